int put_regs(struct regs __user *r, const struct regs *from)
{
	int err = 0;

	err |= put_user(from->a, &r->a);	// finds: ignored-fault
	err = put_user(from->b, &r->b);
	err |= put_user(from->c, &r->c);
	return err;
}
