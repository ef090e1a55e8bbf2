static void poke(void *dst, const void *src, size_t len)
{
	lass_stac();
	__inline_memcpy(dst, src, len);
	lass_clac();
}
