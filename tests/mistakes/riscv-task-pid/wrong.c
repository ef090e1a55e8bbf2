int put_pid(struct ids __user *p)
{
	if (!user_write_access_begin(p, sizeof(*p)))
		return -EFAULT;
	unsafe_put_user(task_pid_vnr(current), &p->pid, Efault);	// finds: argument-in-window
	user_write_access_end();
	return 0;
Efault:
	user_write_access_end();
	return -EFAULT;
}
