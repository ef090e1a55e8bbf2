static void poke(void *dst, const void *src, size_t len)
{
	lass_stac();
	memcpy(dst, src, len);	// finds: call-in-window
	lass_clac();
}
