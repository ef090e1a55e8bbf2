struct head {
	u64 len;
	u32 level;
	u32 type;
};

#define HEAD_DATA(h) ((void __user *)((char __user *)(h) + sizeof(struct head)))

int f(struct head __user *h, void *data, size_t n)
{
	scoped_user_write_access(h, fault) {
		unsafe_put_user(n, &h->len, fault);
		unsafe_copy_to_user(HEAD_DATA(h), data, n, fault);	// finds: outside-checked-range
	}
	return 0;
fault:
	return -EFAULT;
}
