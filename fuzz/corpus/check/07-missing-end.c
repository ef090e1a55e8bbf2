int copy_offsets(struct object *list, struct object __user *user_list, unsigned int count)
{
	unsigned int i;

	if (!user_write_access_begin(user_list, count * sizeof(*user_list)))
		return -EFAULT;
	for (i = 0; i < count; i++) {
		if (list[i].offset & INVALID)
			return -EINVAL;	// finds: window-left-open
		unsafe_put_user(list[i].offset, &user_list[i].offset, Efault);
	}
	user_write_access_end();
	return 0;
Efault:
	user_write_access_end();
	return -EFAULT;
}
