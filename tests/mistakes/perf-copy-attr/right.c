struct attr {
	u32 type;
	u32 size;
	u64 config;
};

int copy_attr(struct attr __user *uattr, struct attr *attr)
{
	u32 size;

	memset(attr, 0, sizeof(*attr));
	if (get_user(size, &uattr->size))
		return -EFAULT;
	if (size > PAGE_SIZE || size > sizeof(*attr))
		return -E2BIG;
	if (copy_from_user(attr, uattr, size))
		return -EFAULT;
	attr->size = size;
	return take_attr(attr, attr->size);
}
