int copy_offsets(struct object *list, struct object __user *user_list, unsigned int count)
{
	int err = -EFAULT;
	unsigned int i;

	if (!user_write_access_begin(user_list, count * sizeof(*user_list)))
		return err;
	for (i = 0; i < count; i++) {
		if (list[i].offset & INVALID) {
			user_write_access_end();
			goto end_user;
		}
		unsafe_put_user(list[i].offset, &user_list[i].offset, end_user);
	}
	err = 0;
end_user:
	user_write_access_end();	// finds: window-closed-twice
	return err;
}
