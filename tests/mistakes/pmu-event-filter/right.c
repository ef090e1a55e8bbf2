struct event_filter {
	u32 action;
	u32 nevents;
	u64 events[];
};

int set_event_filter(struct kvm *kvm, void __user *argp)
{
	struct event_filter tmp, *filter;
	size_t size;
	int r;

	if (copy_from_user(&tmp, argp, sizeof(tmp)))
		return -EFAULT;
	if (tmp.nevents > MAX_EVENTS)
		return -E2BIG;
	size = struct_size(filter, events, tmp.nevents);
	filter = kmalloc(size, GFP_KERNEL_ACCOUNT);
	if (!filter)
		return -ENOMEM;
	r = -EFAULT;
	if (copy_from_user(filter, argp, size))
		goto cleanup;
	*filter = tmp;
	sort_events(filter->events, filter->nevents);
	r = 0;
cleanup:
	kfree(filter);
	return r;
}
