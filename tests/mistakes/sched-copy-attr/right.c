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
	memset(attr, 0, sizeof(*attr));
	if (copy_from_user(attr, uattr, min_t(u32, size, sizeof(*attr))))
		return -EFAULT;
	attr->size = size;
	return attr->size < FIRST_SIZE ? -EINVAL : 0;
}
