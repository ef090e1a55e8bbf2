int load_tail(void __user *start, size_t len)
{
	clear_user(start, len);	// finds: ignored-fault
	return map_tail(start, len);
}
