int put_status(struct info __user *infop, int status)
{
	return __put_user(status, &infop->status);	// finds: dropped-check
}
