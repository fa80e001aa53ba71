// Variables of every kind of container, of 0, 1, 100 and 300 elements, at the boundaries of short strings, with text that is no
// ASCII, with zeros, and within one another.
#include <array>
#include <chrono>
#include <deque>
#include <filesystem>
#include <forward_list>
#include <initializer_list>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <set>
#include <span>
#include <stack>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <vector>

struct Job {
  int id;
  std::string name;
  std::vector<std::string> tags;
  std::optional<std::pair<int, std::string>> owner;
};

__attribute__((noinline)) void hit(const void *) { asm volatile("" ::: "memory"); }

template <class... T> void keep(const T &...all) { (hit(&all), ...); }

// digits writes a number without the help of a library, which may have been built for another layout of strings.
std::string digits(int n) {
  std::string s;
  do
    s.insert(s.begin(), '0' + n % 10);
  while (n /= 10);
  return s;
}

template <class C> C of(int n) {
  C c;
  for (int i = 0; i < n; i++)
    c.insert(c.end(), i * 7 % 1001);
  return c;
}

template <class M> M pairs(int n) {
  M m;
  for (int i = 0; i < n; i++)
    m.insert({"key" + digits(i * 37 % 1000), i});
  return m;
}

int main() {
  std::string empty, s15(15, 'a'), s16(16, 'b'), s22(22, 'c'), s23 = "0123456789abcdefghijklm", long_text(199, 'd'), utf8 = "héllo → ü €", zeros("a\0b", 3);
  std::wstring wide = L"wide";
  std::u16string u16 = u"sixteen", u16pairs = u"ü → 😀\n";
  std::u32string u32 = U"größe 😀\u0085", u32none;
  std::wstring wideutf8 = L"größe → €";
  wchar_t widearray[] = L"drüben";
  std::string_view view = s23, part = std::string_view(s23).substr(3, 5), none;
  std::vector<int> v0, v1 = of<std::vector<int>>(1), v100 = of<std::vector<int>>(100);
  std::vector<double> reals{1.5, -2.25};
  std::vector<bool> b0, b3{true, false, true}, b100(100, true);
  std::vector<std::string> vs{"", "one", "a longer string than fits"};
  std::vector<std::vector<int>> vv{{1}, {}, {2, 3}};
  std::vector<Job> jobs{{1, "first", {"x", "y"}, {}}, {2, "second", {}, {{3, "me"}}}};
  std::array<std::string, 2> array{"a", "b"};
  std::optional<int> o0, o1 = 5;
  std::optional<std::string> otext = "text";
  std::pair<int, std::string> pair{1, "one"};
  std::tuple<> t0;
  std::tuple<int, std::string, double> tuple{1, "t", 2.5};
  std::unique_ptr<Job> unique = std::make_unique<Job>(jobs[1]), nothing;
  std::shared_ptr<int> shared = std::make_shared<int>(42), second = shared, unshared;
  std::weak_ptr<int> weak = shared, expired = std::make_shared<int>(1);
  std::map<std::string, int> m0, m1 = pairs<std::map<std::string, int>>(1), m90 = pairs<std::map<std::string, int>>(90);
  std::map<int, std::map<int, std::string>> nested{{1, {{2, "deep"}}}, {3, {}}};
  std::multimap<int, int> multi{{1, 1}, {1, 2}, {0, 3}};
  std::set<int> set0, set1 = of<std::set<int>>(1), set100 = of<std::set<int>>(100);
  std::set<std::string> names{"b", "a"};
  std::multiset<int> twice{1, 1, 2};
  std::list<int> l0, l1 = of<std::list<int>>(1), l100 = of<std::list<int>>(100);
  std::list<std::string> texts{"p", "q"};
  std::forward_list<int> f0, f2{4, 5};
  std::deque<int> d0, d1 = of<std::deque<int>>(1), d100 = of<std::deque<int>>(100);
  std::deque<std::string> dtexts;
  for (int i = 0; i < 40; i++) {
    dtexts.push_back("back" + digits(i));
    dtexts.push_front("front");
    if (i % 3)
      dtexts.pop_front();
  }
  std::unordered_map<std::string, int> um0, um90 = pairs<std::unordered_map<std::string, int>>(90);
  std::unordered_map<int, std::string> numbered{{1, "a"}, {2, "b"}};
  std::unordered_set<int> us0, us100 = of<std::unordered_set<int>>(100);
  std::unordered_multiset<std::string> ums{"x", "x"};
  std::variant<int, std::string, std::vector<int>> var0 = 3, var1 = "v", var2 = std::vector<int>{1, 2};
  std::stack<int> stack({1, 2});
  std::stack<int, std::vector<int>> stack0, stack100(v100);
  std::queue<int> q0, q2({1, 2}), q100(d100);
  std::queue<std::string, std::list<std::string>> qtexts(texts);
  std::priority_queue<int> p0, p3(v1.begin(), v1.end()), p100(std::less<int>(), v100);
  std::priority_queue<std::string, std::vector<std::string>, std::greater<std::string>> ptexts(std::greater<std::string>(), vs);
  std::initializer_list<int> il0, il3 = {1, 2, 3};
  std::initializer_list<std::string> iltexts = {"a", "b"};
  std::span<int> span = v100, span0;
  std::span<const std::string> spantexts = vs;
  std::span<int, 3> fixed(v100.data() + 1, 3);
  std::filesystem::path path0, path = "/usr/lib/a-long-name-of-a-file.so";
  std::unordered_multimap<int, std::string> umm{{1, "p"}, {1, "q"}};
  std::tuple<std::less<int>, int> light{std::less<int>(), 3};
  std::deque<std::array<long, 40>> blocks(20);
  std::wstring wider(40, L'w');
  auto release = [](int *p) { delete p; };
  std::unique_ptr<int, decltype(release)> deleted(new int(6), release);
  std::optional<std::vector<std::string>> within = vs;
  std::map<std::string, std::vector<std::string>> lists{{"a", {"b", "c"}}, {"d", {}}};
  std::chrono::milliseconds duration(1500);
  // More elements than are collected.
  std::string s300(300, 'e');
  std::vector<int> v300 = of<std::vector<int>>(300);
  std::vector<bool> b300(300, true);
  std::list<int> l300 = of<std::list<int>>(300);
  std::forward_list<int> f1{1}, f100(l100.begin(), l100.end()), f300(l300.begin(), l300.end());
  std::deque<int> d300 = of<std::deque<int>>(300);
  std::set<int> set300 = of<std::set<int>>(300);
  std::multiset<int> ms0, ms1{1}, ms100(v100.begin(), v100.end()), ms300(v300.begin(), v300.end());
  std::map<std::string, int> m300 = pairs<std::map<std::string, int>>(300);
  std::multimap<std::string, int> mm0, mm1(m1.begin(), m1.end()), mm90(m90.begin(), m90.end()), mm300(m300.begin(), m300.end());
  std::unordered_map<std::string, int> um1 = pairs<std::unordered_map<std::string, int>>(1), um300(m300.begin(), m300.end());
  std::unordered_multimap<int, int> umm0, umm1{{1, 2}};
  std::unordered_set<int> us1{1}, us300(v300.begin(), v300.end());
  std::unordered_multiset<int> ums0, ums1{5};
  std::stack<int> stack300(d300);
  std::queue<int> q1({1}), q300(d300);
  std::priority_queue<int> p1(v1.begin(), v1.end()), p300(std::less<int>(), v300);
  std::span<int> span1 = v1, span300 = v300;
  std::string_view view300 = s300;
  std::array<int, 0> a0;
  std::array<int, 1> a1{7};
  std::array<double, 3> areals{0.5, 1, -2};
  std::array<Job, 2> ajobs{jobs[0], jobs[1]};
  std::array<std::array<int, 2>, 2> aa{{{1, 2}, {3, 4}}};
  std::array<std::vector<int>, 2> avectors{v1, v0};
  std::chrono::nanoseconds nanos(1);
  std::chrono::hours hours(5);
  std::chrono::duration<double> reals_of(0.25);
  std::chrono::duration<int, std::ratio<1, 3>> thirds(7);
  std::chrono::system_clock::time_point point(std::chrono::seconds(1700000000));
  std::chrono::time_point<std::chrono::steady_clock, std::chrono::milliseconds> steady(std::chrono::milliseconds(5));
  std::vector<std::chrono::seconds> durations{std::chrono::seconds(1), std::chrono::seconds(2)};
  std::optional<std::chrono::minutes> maybe = std::chrono::minutes(3); // a type with arguments that GDB writes in its own way
  keep(s300, v300, b300, l300, f1, f100, f300, d300, set300, ms0, ms1, ms100, ms300, m300, mm0, mm1, mm90, mm300, um1, um300, umm0, umm1, us1,
       us300, ums0, ums1, stack300, q1, q300, p1, p300, span1, span300, view300, a0, a1, areals, ajobs, aa, avectors, nanos, hours, reals_of,
       thirds, point, steady, durations, maybe);
  Job job{7, "job", {"t"}, {{1, "o"}}};
  keep(empty, s15, s16, s22, s23, long_text, utf8, zeros, wide, u16, u16pairs, u32, u32none, wideutf8, widearray, view, part, none, v0, v1, v100, reals, b0, b3, b100, vs, vv, jobs,
       array, o0, o1, otext, pair, t0, tuple, unique, nothing, shared, second, unshared, weak, expired, m0, m1, m90, nested, multi, set0,
       set1, set100, names, twice, l0, l1, l100, texts, f0, f2, d0, d1, d100, dtexts, um0, um90, numbered, us0, us100, ums, var0, var1,
       var2, stack, stack0, stack100, q0, q2, q100, qtexts, p0, p3, p100, ptexts, il0, il3, iltexts, span, span0, spantexts, fixed, path0,
       path, umm, light, blocks, wider, deleted, within, lists, duration, job);
  hit(&job); // @here
  return 0;
}
