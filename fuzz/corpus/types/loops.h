#include "loops.h"
#define A B
#define B A A
#define TWICE(x) x x
#define MANY TWICE(TWICE(TWICE(TWICE(int a;))))
typedef a_t b_t;
typedef b_t a_t;
struct own { struct own inner; a_t a; };
struct dims { int a[sizeof(struct dims)]; int b[A]; int c[1 << 63]; int d[-1]; };
struct bits { int a : 40; int : 0; int b : A; };
#if defined(X) ? Y == Z : !(W && (V || !U
struct half {
#else
union half {
MANY
#endif
	struct { union { struct { int x; } __packed; }; };
};
enum far { P = 1ull << 40, Q = P / 0, R };
struct __attribute__((aligned(3))) odd { char c; };
