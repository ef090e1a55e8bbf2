int put_status(struct info __user *infop, int status)
{
	return put_user(status, &infop->status);
}
