/* Functions that return values of every class of the ABI. Each result is stored in a variable of the function's name behind r_. */
#include <complex.h>
#include <stdbool.h>
#include <stdint.h>

#define FUNCTIONS(F) \
	F(signed char, character, (signed char)-n) F(unsigned short, half, 60000 + n) F(int, integer, -n) F(unsigned long, word, ~0ul - n) \
	F(bool, truth, n == 5) F(enum color, enumerator, GREEN) F(int *, pointer, &counter + n) \
	F(float, single, n / 4.f) F(double, real, n / 8.) F(long double, extended, n / 16.L) \
	F(float complex, single_complex, n + 2 * I) F(double complex, real_complex, n + 3 * I) F(long double complex, extended_complex, n + 4 * I) \
	F(struct two_ints, two_ints, ((struct two_ints){n, 2})) F(struct mixed, mixed, ((struct mixed){n / 2., n})) \
	F(struct turned, turned, ((struct turned){n, n / 2.})) F(struct floats, floats, ((struct floats){n, 2, 3})) \
	F(struct bytes, bytes, ((struct bytes){{n, 2, 3}})) F(struct bits, bits, ((struct bits){1, n, 77})) \
	F(struct packed, packed, ((struct packed){'a', n, 2.5})) F(struct large, large, ((struct large){{n, 2, 3}})) \
	F(struct one_extended, one_extended, ((struct one_extended){n * 1.5L})) F(union either, either, ((union either){.whole = n})) \
	F(struct nested, nested, ((struct nested){{n, 2}, {{3.5f}}}))

/* Those of which GDB 13's finish says something else than the caller finds. */
#define BEYOND(F) \
	F(__int128, wide, (__int128)n << 70) F(__float128, quad, fraction) F(union odd, odd, ((union odd){.number = n})) \
	F(lanes, vector, ((lanes){n, 2, 3, 4}))

enum color { RED, GREEN = 7 };
struct two_ints { int a, b; };
struct mixed { double d; int i; };
struct turned { char c; double d; };
struct floats { float x, y, z; };
struct bytes { unsigned char b[3]; };
struct bits { int a : 3; int b : 29; unsigned long c : 40; };
struct packed { char c; int i; double d; } __attribute__((packed));
struct large { long a[3]; };
struct one_extended { long double l; };
union either { long whole; double real; };
union odd { long double extended; long number; };
struct nested { struct { short a, b; } s; struct { float f[1]; } t; };
typedef int lanes __attribute__((vector_size(16)));

int counter;
__float128 fraction = 0.15625;

#define DEFINE(type, name, value) type r_##name; __attribute__((noinline)) type name(int n) { counter++; return value; }
FUNCTIONS(DEFINE)
BEYOND(DEFINE)

__attribute__((noinline)) void nothing(int n) { counter += n; }

#define CALL(type, name, value) r_##name = name(5);
int main(void)
{
	FUNCTIONS(CALL)
	BEYOND(CALL)
	nothing(5);
	return 0;
}
