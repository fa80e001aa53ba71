// What the library of shapes offers the program.
#pragma once

#include <cstdint>
#include <string>

namespace geo {

enum class Unit : unsigned char { metre, foot = 3 };

struct Named {
    std::uint32_t id;
    static int made;
    explicit Named(std::uint32_t id) : id(id) { ++made; }
};

class Shape : public Named {
public:
    explicit Shape(std::uint32_t id, double size) : Named(id), size(size) {}
    virtual ~Shape() = default;
    virtual double area() const = 0;
    double scaled(int by) const;

protected:
    double size;
    Unit unit = Unit::foot;
};

class Square final : public Shape {
    int sides[4] = {1, 2, 3, 4};

public:
    using Shape::Shape;
    double area() const override;
};

struct Tagged : virtual Named {
    Tagged() : Named(9) {}
    short tag = 12;
};

template <typename T, int N> struct Ring {
    T slots[N];
    unsigned next = 0;
    void put(T const &value);
    T &at(int i) { return slots[i % N]; }
};

extern int offset;

} // namespace geo

template <typename T, int N> void geo::Ring<T, N>::put(T const &value)
{
    T old = slots[next % N];
    slots[next % N] = value;
    ++next; // @put
    (void)old;
}
