int copy_header(struct request *req, struct header __user *umsg, struct vec __user *uvec)
{
	u64 base, len;

	if (!user_read_access_begin(umsg, sizeof(*umsg)))
		return -EFAULT;
	unsafe_get_user(base, &umsg->base, Efault);
	if (!access_ok(&uvec->len, sizeof(uvec->len)))
		goto Efault;
	unsafe_get_user(len, &uvec->len, Efault);
	user_read_access_end();
	return set_up(req, base, len);
Efault:
	user_read_access_end();
	return -EFAULT;
}
