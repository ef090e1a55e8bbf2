int set_mode(struct device *dev, const u32 __user *arg)
{
	u32 mode;

	get_user(mode, arg);	// finds: ignored-fault
	return dev->set_mode(dev, mode);
}
