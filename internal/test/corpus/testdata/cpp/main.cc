// Locals, arguments, members and globals in C++. It prints a check sum.
#include "shapes.h"

#include <cstdio>
#include <memory>
#include <utility>
#include <vector>

namespace {
int secret = 17;
}

namespace app {
namespace inner {
unsigned depth = 2;
}
bool verbose = true;
struct Pair {
    char key;
    long value;
    bool operator<(Pair const &other) const { return value < other.value; }
};
static Pair const fixed{'f', 99};
} // namespace app

using geo::Square;
geo::Ring<int, 3> numbers;
geo::Ring<app::Pair, 2> pairs;
int &alias = secret;

struct Counter {
    int total = 0;
    static long all;
    int add(int n)
    {
        total += n;
        all += total; // @add
        return total;
    }
    int operator()(int n) const { return n + total; }
};
long Counter::all = 1;

static int references(int const &in, app::Pair &out, int &&moved)
{
    auto &same = out;
    const char *name = "reference";
    same.value += in + moved;
    out.key = static_cast<char>('a' + in % 26); // @references
    return static_cast<int>(same.value) + name[0];
}

template <typename T> static T largest(T a, T b)
{
    T const &winner = a < b ? b : a;
    return winner; // @largest
}

static double polymorphic(geo::Shape const &shape, geo::Square const *square)
{
    double area = shape.area();
    geo::Unit unit = geo::Unit::metre;
    geo::Tagged tagged;
    tagged.tag += static_cast<short>(area);
    double both = area + square->scaled(2); // @polymorphic
    return both + static_cast<int>(unit) + tagged.tag;
}

static int captured(int base)
{
    int count = 0;
    app::Pair local{'c', base};
    auto step = [&count, base, local](int by) {
        count += by * base;
        return count + static_cast<int>(local.value); // @lambda
    };
    int first = step(2);
    int second = step(-1);
    return first + second;
}

static int containers(int n)
{
    std::string word = "short";
    std::vector<int> values(static_cast<unsigned>(n), 7);
    auto owned = std::make_unique<app::Pair>(app::Pair{'o', n});
    std::pair<int, char> both{n, 'x'};
    void (geo::Ring<int, 3>::*method)(int const &) = &geo::Ring<int, 3>::put;
    int app_size = static_cast<int>(word.size() + values.size()); // @containers
    return app_size + static_cast<int>(owned->value) + both.first + (method != nullptr);
}

static int guarded(int n)
{
    try {
        if (n & 1)
            throw n * 100;
        return n;
    } catch (int thrown) {
        int kept = thrown + secret;
        return kept; // @caught
    }
}

int main()
{
    Counter counter;
    long sum = 0;
    for (int i = 0; i < 3; i++) {
        Square square(static_cast<unsigned>(i), i + 0.5);
        app::Pair pair{'p', i};
        using namespace app::inner;
        sum += counter.add(i + 1) + counter(4);
        sum += references(i, pair, 5 + i);
        sum += largest(i, 1) + largest<long>(sum, 3) + largest(pair, app::fixed).value;
        sum += static_cast<long>(polymorphic(square, &square));
        sum += captured(i);
        sum += containers(i + 1);
        sum += guarded(i);
        numbers.put(static_cast<int>(sum));
        pairs.put(pair);
        sum += depth + static_cast<unsigned>(alias) + app::verbose; // @loop
    }
    std::printf("%ld %d %ld\n", sum, numbers.at(1), pairs.at(0).value + geo::offset + geo::Named::made);
    return 0;
}
