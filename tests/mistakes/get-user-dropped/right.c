int set_mode(struct device *dev, const u32 __user *arg)
{
	u32 mode;

	if (get_user(mode, arg))
		return -EFAULT;
	return dev->set_mode(dev, mode);
}
