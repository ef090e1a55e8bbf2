struct event {
	u32 events;
	u64 data;
};

int put_events(struct event __user *events, const struct event *kbuf, int n)
{
	int i, err = 0;

	for (i = 0; i < n; i++) {
		err = __put_user(kbuf[i].events, &events->events);	// finds: ignored-fault
		err = __put_user(kbuf[i].data, &events->data);	// finds: swallowed-fault
		events++;
	}
	return err ? -EFAULT : n;
}
