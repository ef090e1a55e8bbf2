int f(struct pair __user *p, size_t n)
{
	struct pair k;

	copy_struct_from_user(&k, sizeof(k), p, n);	// finds: ignored-fault
	return work(&k);
}
