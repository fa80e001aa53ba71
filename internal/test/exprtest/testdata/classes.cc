// Classes, references and templates, for expressions over them.
#include <string>
#include <vector>

namespace ns {
int limit = 42;
enum class Color { Red = 3, Green = -1 };
struct Point { int x, y; static int made; };
int Point::made = 11;
namespace inner { long depth = -9; }
}

struct Root { virtual ~Root() {} int deep = 77; };
struct Left : virtual Root { int left = 5; int shared = 1; };
struct Right : virtual Root { int right = 6; int shared = 2; };
struct Plain { int first = 1; short second = -2; };

template <typename T> struct Stack { T items[4]; int count; static T top; };
template <typename T> T Stack<T>::top = T(19);

int hidden = 1000, plain = 8;

struct Job : Left, Right, Plain {
  int id = 21;
  int hidden = 13;
  bool ready = true;
  ns::Color color = ns::Color::Green;
  ns::Point at = {3, -4}, &where = at;
  Stack<int> stack = {{10, 20, 30, 40}, 2};
  Stack<short> *other = nullptr;
  static long total;
  unsigned low : 3, high : 7;
  int numbers[3] = {7, 8, 9};
  const char *label = "label";
  int work(const ns::Point &p, Job &j, int &&moved, Plain *base, bool flag);
};
long Job::total = 1234567890123L;

int Job::work(const ns::Point &p, Job &j, int &&moved, Plain *base, bool flag) {
  int local = -6, &alias = local, *pointer = &alias;
  int (&array)[3] = numbers;
  Job *me = this, *&self = me;
  std::vector<int> list = {4, 5, 6};
  std::string text = "text";
  Stack<ns::Point> points = {{{1, 2}, {3, 4}}, 2};
  int sum = p.x + j.id + moved + base->first + flag + alias + *pointer + array[1] + points.count + (int)list.size();
  return sum + (int)text.size() + (self != 0) + Stack<int>::top; /* here */
}

int main() {
  Job job;
  job.low = 5;
  job.high = 99;
  Stack<short> other = {{1, -2, 3}, 3};
  job.other = &other;
  ns::Point p = {100, -200};
  return job.work(p, job, 17, &job, true) == 0;
}
