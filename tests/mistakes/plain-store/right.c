long do_ioctl(struct device *dev, unsigned int cmd, u32 __user *arg)
{
	switch (cmd) {
	case GET_STATE:
		return put_user(dev->state, arg);
	}
	return -ENOTTY;
}
