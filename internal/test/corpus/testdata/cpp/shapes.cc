// The library of shapes.
#include "shapes.h"

namespace geo {

int Named::made = 0;
int offset = 40;

namespace {
long hidden = 5;
}

double Shape::scaled(int by) const
{
    double result = area() * by;
    hidden += by;
    return result + hidden; // @scaled
}

double Square::area() const
{
    int sum = 0;
    for (int side : sides)
        sum += side;
    return size * size + sum; // @area
}

} // namespace geo
