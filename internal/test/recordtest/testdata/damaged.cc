// Containers whose words were overwritten, and some that are larger than what is collected of them.
#include <cstddef>
#include <list>
#include <map>
#include <string>
#include <unistd.h>
#include <unordered_map>
#include <vector>

template <class T> void poke(T &object, int word, size_t value) { ((volatile size_t *)&object)[word] = value; }
template <class T> size_t peek(T &object, int word) { return ((volatile size_t *)&object)[word]; }

// Words of the two libraries.
#ifdef _LIBCPP_VERSION
enum { string_length = 1, string_start = 2, list_first = 1, node_next = 1, map_count = 2, hash_count = 3 };
#else
enum { string_length = 1, string_start = 0, list_first = 0, node_next = 0, map_count = 5, hash_count = 3 };
#endif

int main() {
  std::vector<int> backwards{1, 2, 3}, huge{1, 2}, wild{1, 2}, beyond{1, 2}, big(1000, 3);
  std::string longest(30, 'x'), wildtext(30, 'x'), text(1000, 'y');
  std::list<int> cycle{1, 2, 3}, list;
  for (int i = 0; i < 300; i++)
    list.push_back(i);
  std::map<int, int> map{{1, 1}, {2, 2}};
  std::unordered_map<int, int> unordered{{1, 1}};
  std::vector<std::string> texts{std::string(30, 'x'), "b"};
  std::vector<std::vector<std::vector<int>>> deep{{{1}}};
  size_t start = peek(backwards, 0);
  poke(backwards, 0, peek(backwards, 1));
  poke(backwards, 1, start);
  poke(huge, 1, peek(huge, 0) + (1ull << 60));
  poke(beyond, 1, peek(beyond, 2) + sizeof(int));
  poke(wild, 0, 0x10);
  poke(wild, 1, 0x30);
  poke(longest, string_length, 1ull << 60);
  poke(wildtext, string_start, 8);
  size_t *first = (size_t *)peek(cycle, list_first);
  poke(*first, node_next, (size_t)first);
  poke(map, map_count, 1ull << 60);
  poke(unordered, hash_count, 1ull << 60);
  poke(texts[0], string_start, 16);
  _exit(0); // @here
}
