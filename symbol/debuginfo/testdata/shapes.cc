// A program with something of everything that the names of C++ are made of.
#include <cstdio>
#include <cstdlib>

namespace outer {
inline namespace v1 {
int versioned(int n) { return n * 3; }
}
namespace {
int hidden_count = 3;
int hidden(int n) { return n + hidden_count; }
}

enum Color { RED, GREEN = 7 };
enum class Mode : unsigned char { OFF, ON };

template <typename T> struct Stack {
  T items[16];
  int depth = 0;
  static int pushes;
  void push(T item);
  T pop() { return items[--depth]; }
  struct Cursor {
    int at;
    int next() { return ++at; }
  };
};
template <typename T> int Stack<T>::pushes;
template <typename T> void Stack<T>::push(T item) {
  pushes++;
  items[depth++] = item;
}

class Shape {
public:
  Shape(int w) : width(w) {}
  virtual ~Shape() {}
  virtual int area() const;
  bool operator<(const Shape &other) const { return width < other.width; }
  Shape &operator<<(int n) { width <<= n; return *this; }
  static int made;

protected:
  int width;
};
int Shape::made = 0;
int Shape::area() const { return width * width; }

template <typename T> __attribute__((noinline)) T twice(T v) { return v + v; }
} // namespace outer

static inline __attribute__((always_inline)) int squeeze(int n) {
  int half = n / 2;
  return half * half + 1;
}

int total;
thread_local int per_thread = 5;

__attribute__((noinline)) int work(int n) {
  static int calls = 0;
  int sum = calls++;
  for (int i = 0; i < n; i++) {
    sum += squeeze(i);
    if (sum > 1000)
      sum -= squeeze(sum);
  }
  return sum;
}

extern "C" __attribute__((noinline)) int plain_c(int a, int b) { return a * b + 1; }

int main(int argc, char **argv) {
  outer::Stack<int> numbers;
  numbers.push(argc);
  outer::Stack<int>::Cursor cursor{argc};
  outer::Shape shape(numbers.pop() + cursor.next());
  shape << 1;
  auto lambda = [&](int n) { return n + argc; };
  outer::Mode mode = argc > 1 ? outer::Mode::ON : outer::Mode::OFF;
  total = work(argc + 5) + shape.area() + outer::hidden(argc) + outer::versioned(2) + lambda(1);
  total += outer::twice(argc) + (int)outer::twice(1.5) + (int)mode + outer::GREEN + per_thread + plain_c(argc, 3);
  printf("%d %d\n", total, shape < outer::Shape(2));
  return 0;
}
