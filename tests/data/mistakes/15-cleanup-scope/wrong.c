int put_info(struct card *card, struct info __user *info)
{
	int err = -EFAULT;

	if (!user_write_access_begin(info, sizeof(*info)))
		return err;
	if (card->extra) {
		struct extra *extra __free(extra_put) = card->extra;

		unsafe_put_user(extra->id, &info->id, Efault);	// finds: jump-out-of-cleanup
	}
	err = 0;
Efault:
	user_write_access_end();
	return err;
}
