int put_info(struct card *card, struct info __user *info)
{
	struct extra *extra __free(extra_put) = card->extra;
	u32 id = extra->id;

	scoped_user_write_access(info, Efault) {
		unsafe_put_user(id, &info->id, Efault);
	}
	return 0;
Efault:
	return -EFAULT;
}
