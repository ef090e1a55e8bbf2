int put_ids(struct task_struct *t, struct ids __user *ids)
{
	if (!user_write_access_begin(ids, sizeof(*ids)))
		return -EFAULT;
	unsafe_put_user(task_pid_vnr(t), &ids->pid, Efault);	// finds: argument-in-window
	cond_resched();	// finds: call-in-window
	unsafe_put_user(t->uid, &ids->uid, Efault);
	user_write_access_end();
	return 0;
Efault:
	user_write_access_end();
	return -EFAULT;
}
