int save(struct regs *regs, struct frame __user *sc)
{
	if (!user_write_access_begin(sc, sizeof(*sc)))
		return 1;
	unsafe_put_user(regs->pc, &sc->pc, Efault);	// finds: cut-short
	unsafe_put_user(regs->sp, &sc->sp, Efault);
	unsafe_put_user(regs->ps, &sc->ps, Efault);
	user_write_access_end();
	return 0;
Efault:
	user_write_access_end();
	return 1;
}
