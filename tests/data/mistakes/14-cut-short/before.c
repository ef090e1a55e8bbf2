int save(struct regs *regs, struct frame __user *sc)
{
	int err = 0;

	err |= __put_user(regs->pc, &sc->pc);
	err |= __put_user(regs->sp, &sc->sp);
	err |= __put_user(regs->ps, &sc->ps);
	return err;
}
