// A C++ program of templates, inlined functions, virtual calls and exceptions, deep in the standard library.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <regex>
#include <stdexcept>
#include <string>
#include <vector>

namespace shop {
struct Item {
    virtual ~Item() = default;
    virtual double price(int depth) const = 0;
};
struct Plain : Item {
    double each;
    explicit Plain(double e) : each(e) {}
    double price(int depth) const override {
        if (depth > 40)
            throw std::out_of_range("depth");
        return each;
    }
};
template <typename Inner> struct Boxed : Item {
    std::vector<std::unique_ptr<Item>> items;
    double price(int depth) const override {
        return std::accumulate(items.begin(), items.end(), 0.0, [&](double sum, auto &i) { return sum + i->price(depth + 1); });
    }
};
std::unique_ptr<Item> box(int depth) {
    auto b = std::make_unique<Boxed<Plain>>();
    if (depth > 0)
        b->items.push_back(box(depth - 1));
    b->items.push_back(std::make_unique<Plain>(depth));
    return b;
}
} // namespace shop

static std::map<std::string, int> count(const std::string &text) {
    std::map<std::string, int> words;
    const std::regex word("([a-z]+)(-[a-z]+)*");
    for (std::sregex_iterator i(text.begin(), text.end(), word), end; i != end; ++i)
        ++words[i->str()];
    return words;
}

int main() {
    std::string text;
    for (int i = 0; i < 60; i++)
        text += "some text-with words-and-hyphens " + std::to_string(i) + " ";
    std::function<int(int)> sum = [&](int n) { return n ? n + sum(n - 1) : 0; };
    for (int round = 0; round < 30; round++) {
        auto words = count(text);
        std::vector<std::pair<std::string, int>> sorted(words.begin(), words.end());
        std::sort(sorted.begin(), sorted.end(), [](auto &a, auto &b) { return a.second > b.second || (a.second == b.second && a.first < b.first); });
        double total = 0;
        try {
            total = shop::box(round * 2)->price(0);
        } catch (const std::out_of_range &e) {
            total = -1;
        }
        std::printf("%zu %.0f %d\n", sorted.size(), total, sum(round));
    }
}
