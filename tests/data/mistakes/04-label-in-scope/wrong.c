int f(struct pair __user *p, u32 v)
{
	scoped_user_write_access(p, fault) {
		unsafe_put_user(v, &p->a, fault);
fault:	// finds: end-after-failed-begin
		v = 1;
	}
	return 0;
}
