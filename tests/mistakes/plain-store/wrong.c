long do_ioctl(struct device *dev, unsigned int cmd, u32 __user *arg)
{
	switch (cmd) {
	case GET_STATE:
		*arg = dev->state;	// finds: user-pointer-dereferenced
		return 0;
	}
	return -ENOTTY;
}
