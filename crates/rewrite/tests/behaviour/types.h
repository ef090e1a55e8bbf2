struct inner {
	u32 x;
	u32 y;
};

struct s {
	u32 a;
	u32 b;
	u64 c;
	struct inner in;
	u16 d;
	u32 last;
};

struct many {
	u32 head;
	u16 all[8];
};
