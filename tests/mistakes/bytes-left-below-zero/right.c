int set_stats(struct device *dev, const void __user *arg)
{
	int ret;

	ret = copy_from_user(&dev->stats, arg, sizeof(dev->stats));
	if (ret)
		return -EFAULT;
	return 0;
}
