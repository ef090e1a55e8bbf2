int put_ids(struct task_struct *t, struct ids __user *ids)
{
	pid_t pid = task_pid_vnr(t);

	cond_resched();
	if (!user_write_access_begin(ids, sizeof(*ids)))
		return -EFAULT;
	unsafe_put_user(pid, &ids->pid, Efault);
	unsafe_put_user(t->uid, &ids->uid, Efault);
	user_write_access_end();
	return 0;
Efault:
	user_write_access_end();
	return -EFAULT;
}
