// A function that takes containers by reference and changes them: what they held when it was entered is told where it returns.
#include <map>
#include <string>
#include <vector>

struct job {
    std::string name;
    std::vector<int> parts;
    std::map<std::string, long> sizes;
};

__attribute__((noinline)) std::size_t change(job &j)
{
    j.name = "a name that does not fit in the string object itself";
    j.parts.push_back(4);
    j.sizes.clear();
    return j.parts.size();
}

int main()
{
    job j = {"t\xc3\xa4glich", {1, 2, 3}, {{"a", 1}, {"b", 2}}};
    return change(j) != 4;
}
