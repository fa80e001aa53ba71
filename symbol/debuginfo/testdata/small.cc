// A program without a C library, for tests that damage it.
namespace ns {
template <typename T> struct Pair {
  T first, second;
  T sum() const { return first + second; }
};
static int count;
inline int more(int n) { return n + ++count; }
} // namespace ns

__attribute__((noinline)) int work(int n) {
  ns::Pair<int> pair{n, ns::more(n)};
  for (int i = 0; i < n; i++)
    pair.first += ns::more(i);
  return pair.sum();
}

extern "C" void _start() {
  volatile int result = work(4);
  for (;;)
    result = ns::more(result);
}
