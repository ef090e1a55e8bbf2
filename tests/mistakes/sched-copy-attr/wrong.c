struct attr {
	u32 size;
	u32 policy;
	u64 runtime;
};

int copy_attr(struct attr __user *uattr, struct attr *attr)
{
	u32 size;

	if (get_user(size, &uattr->size))
		return -EFAULT;
	if (!size)
		size = FIRST_SIZE;
	if (size < FIRST_SIZE || size > PAGE_SIZE)
		return -E2BIG;
	if (copy_from_user(attr, uattr, sizeof(*attr)))	// finds: double-fetch
		return -EFAULT;
	return attr->size < FIRST_SIZE ? -EINVAL : 0;
}
