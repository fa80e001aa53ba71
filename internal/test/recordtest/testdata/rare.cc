// Types of C++ that programs seldom have. Each member of struct Rare is one of them.
#include <cstdint>
#include <cstring>

enum class Negative : signed char { a = -1, b = 127, c = -128 };
enum Wide : unsigned long { WideAll = 0xffffffffffffffff, WideOne = 1 };

struct Empty {};
struct WithEmpty { char c; Empty e; int i; };
struct Shared { int shared = 5; virtual int f() { return 1; } virtual ~Shared() {} };
struct Left : virtual Shared { int left = 6; int f() override { return 2; } };
struct Right : virtual Shared { int right = 7; };
struct Bottom : Left, Right { int bottom = 8; };
struct Small : virtual Shared { char small = 9; };
struct Smaller : Small { char smaller = 10; };
struct Members {
  char pad[200] = {};
  int x = 1, y = 2;
  int plain() { return x; }
  virtual int overridden(long) const { return 2; }
  static const int K = 200;
  static constexpr unsigned char KC = 200;
  static constexpr long KL = -3000000000;
  static constexpr double KD = 0.1;
  static constexpr bool KB = true;
};
struct Derived : Members { int z = 3; };
struct Bits {
  bool b : 1; bool c : 3; Negative n : 3; signed s : 1; unsigned u : 1; long l : 33;
  unsigned char : 0; unsigned char q : 2; wchar_t w : 9; char16_t h : 7; __int128 i : 60;
};
union Float { float f; unsigned u; unsigned char b[4]; struct { unsigned mantissa : 23, exponent : 8, sign : 1; }; };
template <class T, int N> struct List { T t[N]; static const int n = N; };

struct Rare {
  WithEmpty with_empty = {1, {}, 5};
  Bottom bottom;
  Smaller smaller;
  Derived derived;
  int Members::*member = &Members::x, Members::*second = &Members::y, Members::*none = nullptr;
  int (Members::*method)() = &Members::plain, (Members::*no_method)() = nullptr;
  int (Members::*virtual_method)(long) const = &Members::overridden;
  int (Shared::*shared_method)() = &Shared::f;
  Negative negative = Negative::c;
  Wide wide = WideAll;
  Bits bits = {true, true, Negative::a, -1, 1, -4000000000, 3, L'a', u'b', -5};
  Float number = {1.5f};
  List<short, 3> list = {{1, -1, 200}};
  char32_t text32[4] = U"abc";
  wchar_t wide_text[4] = L"de";
  int &&rvalue;
  int (&array)[3];
  int Members::*const &to_member = member;
  Rare(int (&a)[3], int &&r) : rvalue(static_cast<int &&>(r)), array(a) {}
};

static __attribute__((noinline)) int look(Rare *x) {
  __asm__ volatile("nop" : : "r"(x)); // @look
  return x->negative == Negative::a;
}

static int numbers[3] = {1, 2, 3}, five = 5;

int main() {
  static Rare all(numbers, static_cast<int &&>(five));
  Rare *volatile x = &all;
  look(x);
}
