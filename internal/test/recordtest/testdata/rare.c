/* Types of C that programs seldom have. Each member of struct rare is one of them. */
#include <complex.h>
#include <stdint.h>
#include <string.h>
#include <uchar.h>
#include <wchar.h>

enum negative { N1 = -1, N200 = 200 };
enum unsigned32 { U_MAX = 0xffffffffu, U_1 = 1 };
enum __attribute__((packed)) unsigned8 { P200 = 200, P1 = 1 };
enum __attribute__((packed)) signed8 { S_100 = -100, S100 = 100 };
enum wide { W33 = 0x100000000ll, W_1 = -1 };
enum flags { F1 = 1, F2 = 2, F8 = 8 };
enum overlapping { O1 = 1, O2 = 2, O3 = 3 };
enum twice { T1 = 1, T_1 = 1, T2 = 2 };

struct __attribute__((packed)) packed { char a; int b : 7; long c : 40; _Bool d : 1; short e; };
struct nameless { int a; union { int b; float f; struct { short low, high; }; }; struct { int c; } named; };
struct bits {
  _Bool b : 1; enum negative n : 9; enum unsigned8 p : 8; enum signed8 s : 7; signed char c : 3;
  int : 0; unsigned x : 31; long long y : 63; unsigned long long z : 64;
};
struct flexible { int n; char text[]; };
struct flexible_ints { short n; int list[]; };
struct empty {};
struct none { int n; int list[0]; };
struct aligned { char c; _Alignas(64) int x; };
union overlaid { long double number; char bytes[16]; __int128 i; };
typedef float float4 __attribute__((vector_size(16)));
typedef unsigned char byte16 __attribute__((vector_size(16)));
typedef _Bool (*predicate)(int);

struct rare {
  struct packed packed; struct nameless nameless; struct bits bits; struct aligned aligned; union overlaid overlaid;
  struct empty empty, empties[3]; struct none none; int nothing[2][0];
  enum negative negative, named, other; enum unsigned32 all_ones, unknown; enum unsigned8 unsigned8; enum signed8 signed8;
  enum wide wide, minus; enum flags one, two, stranger, zero; enum overlapping three, seven; enum twice doubled;
  float4 floats; byte16 bytes; __int128 i128; unsigned __int128 u128; long double extended, smallest;
  _Complex float complex_float; _Complex long double complex_extended; char16_t c16; char32_t c32; wchar_t wc;
  predicate test; void (*handlers[2])(int); volatile const int vc; int *restrict r; _Atomic int atomic; int (*rows)[3];
  char *s; const char *const cs; uint8_t u8; int8_t i8; intptr_t ip; char zeros[300], run[300]; __float128 quad;
#ifdef __clang__
  _BitInt(7) bit7; unsigned _BitInt(33) bit33; _BitInt(100) bit100; _BitInt(17) bit17 : 9;
#else
  _Float16 half; _Complex _Float128 complex_quad; _Float64x f64x;
  struct __attribute__((scalar_storage_order("big-endian"))) { int i; short s; unsigned u : 5, v : 9; float f; } swapped;
#endif
};

static struct rare all;
static long flexible_room[8], ints_room[8];

static _Bool even(int n) { return !(n & 1); }

static void fill(struct rare *x) {
  x->packed = (struct packed){1, -3, -5, 1, 300};
  x->nameless.f = 1.5f;
  x->nameless.named.c = 200;
  x->bits = (struct bits){1, N200, P200, -5, -2, 0x7fffffff, -3, ~0ull};
  x->aligned.x = 5;
  x->overlaid.number = 0.1L;
  x->negative = N1, x->named = N200, x->other = 5, x->all_ones = U_MAX, x->unknown = 7, x->unsigned8 = P200;
  x->signed8 = S_100, x->wide = W33, x->minus = W_1, x->one = F2, x->two = F1 | F8, x->stranger = 4 | F1, x->three = O3;
  x->seven = 7, x->doubled = 3;
  x->floats = (float4){1, .5f, -2, 0};
  x->bytes = (byte16){1, 200, 'a'};
  x->i128 = -7, x->u128 = ~(unsigned __int128)0, x->extended = 1.0L / 3, x->smallest = 3.6e-4951L;
  x->complex_float = 1.5f - 2.0fi, x->complex_extended = 0.1L + 1e4000Li;
  x->c16 = u'x', x->c32 = U'y', x->wc = L'z';
  x->test = even, x->atomic = -3, x->s = "text", x->u8 = 200, x->i8 = -100, x->ip = -1;
  memset(x->run, 'r', 250);
  x->quad = 0.1Q;
#ifdef __clang__
  x->bit7 = 5, x->bit33 = 5000000000, x->bit100 = -1, x->bit17 = -100;
#else
  x->half = 0.1f, x->complex_quad = 1.5Q, x->f64x = .1f64x;
  x->swapped.i = 1, x->swapped.s = -2, x->swapped.u = 3, x->swapped.v = 300, x->swapped.f = 1.5f;
#endif
}

static __attribute__((noinline)) int look(struct rare *x, struct flexible *text, struct flexible_ints *ints, int n) {
  int rows[n][3];
  char characters[n];
  memset(characters, 'c', n);
  for (int i = 0; i < n; i++)
    rows[i][0] = i * 100, rows[i][1] = rows[i][2] = -i;
  __asm__ volatile("nop" : : "r"(x), "r"(rows), "r"(text), "r"(ints), "r"(characters)); /* @look */
  return rows[n - 1][0];
}

int main(void) {
  struct flexible *text = (void *)flexible_room;
  struct flexible_ints *ints = (void *)ints_room;
  text->n = 3;
  strcpy(text->text, "hey");
  ints->n = 2, ints->list[0] = 7, ints->list[1] = 70000;
  struct rare *volatile x = &all;
  volatile int n = 4;
  fill(x);
  look(x, text, ints, n);
  return 0;
}
