struct setup {
	u32 mode;
	u32 rate;
	u64 place;
	u64 length;
};

int set_up(struct setup *to, const struct setup __user *from)
{
	if (copy_from_user(to, from, sizeof(to)))	// finds: sizeof-pointer
		return -EFAULT;
	return apply(to);
}
