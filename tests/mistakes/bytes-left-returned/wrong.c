static int get_stats(struct device *dev, void __user *arg)
{
	struct stats s = dev->stats;

	if (!dev->up)
		return -ENODEV;
	return copy_to_user(arg, &s, sizeof(s));	// finds: misread-result
}

const struct ops ops = { .get_stats = get_stats };
