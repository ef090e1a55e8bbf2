int put_pid(struct ids __user *p)
{
	pid_t pid = task_pid_vnr(current);

	if (!user_write_access_begin(p, sizeof(*p)))
		return -EFAULT;
	unsafe_put_user(pid, &p->pid, Efault);
	user_write_access_end();
	return 0;
Efault:
	user_write_access_end();
	return -EFAULT;
}
