struct reloc {
	u64 offset;
	u64 presumed;
};

int copy_relocs(struct reloc __user *urelocs, unsigned int count)
{
	unsigned int i;

	if (!user_write_access_begin(urelocs, count * sizeof(*urelocs)))
		return -EFAULT;
	for (i = 0; i < count; i++)
		unsafe_put_user(-1ull, &urelocs[i].presumed, Efault);
	user_write_access_end();
	return 0;
Efault:
	user_write_access_end();
	return -EFAULT;
}
