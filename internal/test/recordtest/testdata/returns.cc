// Functions that return objects of C++, some of which have to stay where they were made. Each result is stored in a variable of the
// function's name behind r_.
#include <complex>
#include <cstdio>
#include <csetjmp>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

struct copied { int a; explicit copied(int n) : a(n) {} copied(const copied &o) : a(o.a) {} copied &operator=(const copied &) = default; };
struct destroyed { int a; ~destroyed() {} };
struct defaulted { int a; ~defaulted() = default; defaulted(int n) : a(n) {} defaulted(const defaulted &) = default; defaulted &operator=(const defaulted &) = default; };
struct moved { int a; moved(int n) : a(n) {} moved(moved &&) = default; moved(const moved &) = delete; moved &operator=(moved &&) = default; };
struct virtual_one { int a; virtual int get() { return a; } };
struct member { copied c; };
struct base { short s; };
struct derived : base { int i; };
struct empty {};
struct with_empty : empty { double d; };
struct list { list *next; };
template <typename T> struct box { T value; box(T v) : value(v) {} box(const box &o) : value(o.value) {} box &operator=(const box &) = default; };
enum class kind : unsigned char { one, two };
typedef int (base::*method)();
typedef short base::*data_member;

#define FUNCTIONS(F) \
	F(copied, f_copied, copied(n)) F(destroyed, f_destroyed, destroyed{n}) F(defaulted, f_defaulted, defaulted(n)) F(moved, f_moved, moved(n)) \
	F(virtual_one, f_virtual, make_virtual(n)) F(member, f_member, member{copied(n)}) F(derived, f_derived, make_derived(n)) \
	F(with_empty, f_empty, make_empty(n)) F(box<int>, f_box, box<int>(n)) F(kind, f_kind, kind::two) F(data_member, f_data, &base::s) \
	F(std::complex<double>, f_complex, std::complex<double>(n, 2)) F(int_pair, f_pair, int_pair(n, 2.5)) F(list, f_list, list{nullptr}) \
	F(std::shared_ptr<int>, f_shared, std::shared_ptr<int>())

typedef std::pair<int, double> int_pair;
static inline virtual_one make_virtual(int n) { virtual_one v; v.a = n; return v; }
static inline derived make_derived(int n) { derived d; d.s = 3; d.i = n; return d; }
static inline with_empty make_empty(int n) { with_empty w; w.d = n; return w; }

int counter;

#define DEFINE(type, name, value) __attribute__((noinline)) type name(int n) { counter++; return value; } type r_##name = name(6);
FUNCTIONS(DEFINE)

// Calls that end without a return, within others that do not.
__attribute__((noinline)) int thrower(int n) { counter++; if (n == 0) throw std::runtime_error("enough"); return thrower(n - 1) + 1; }
__attribute__((noinline)) int catcher(int n) { try { return thrower(n); } catch (std::exception &) { return -n; } }
static jmp_buf back;
__attribute__((noinline)) int jumper(int n) { counter++; if (n == 0 || counter == 0) longjmp(back, 1); return counter < 0 ? n : jumper(n - 1) + 1; }
__attribute__((noinline)) int setter(int n) { if (setjmp(back) == 0) return jumper(n); return 70 + n; }
__attribute__((noinline)) int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
__attribute__((noinline)) void finished() { counter++; }

int main()
{
	int sum = catcher(3) + catcher(1) + setter(2) + setter(4) + fib(6);
	finished();
	return sum == 0;
}
