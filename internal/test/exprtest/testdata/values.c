/* Values of all kinds, for expressions over them. */
#include <stdlib.h>
#include <string.h>

enum kind { IDLE, URGENT = 5, LATE = 0x7fffffff };
enum sign { MINUS = -3, NONE, PLUS = 3 };

struct point { int x, y; };
struct flags { unsigned low : 3; int delta : 5; unsigned wide : 20; unsigned char one : 1; long far : 40; };
union word { unsigned int whole; unsigned char bytes[4]; short halves[2]; struct { unsigned short low, high; }; };
struct job {
  int id;
  enum kind kind;
  struct point at;
  struct point path[3];
  struct flags flags;
  union word word;
  struct { int hidden; union { short inner; char letter; }; };
  char name[12];
  const char *label;
  struct job *next, **self;
  short grid[2][3];
  int (*call)(int);
};

signed char sc = -2; unsigned char uc = 250; char c = 'x'; short s = -30000; unsigned short us = 65530;
int i = -7, limit = 42, zero = 0; unsigned u = 3000000000u; long l = -5000000000L; unsigned long ul = 18000000000000000000ul;
long long ll = -1; _Bool yes = 1, no = 0; enum kind kind = URGENT; enum sign sign = MINUS; float f = 1.5f; double d = -2.5;
int numbers[8] = {1, -2, 3, -4, 5, -6, 7, -8};
unsigned char bytes[5] = {1, 2, 250, 4, 255};
struct job *head;
static int hits = 9;
long table[2][2] = {{1, 2}, {-3, 4}};

int twice(int n) { return 2 * n; }

long work(struct job *j, int n, unsigned char small, short narrow, unsigned long big, char letter) {
  static int calls = 3;
  struct job copy = *j;
  struct job *p = &copy, **pp = &p;
  int local = -11, *ip = &local, **ipp = &ip;
  long sum = 0;
  char text[16] = "local text";
  const char *string = "constant";
  void *raw = &copy;
  union word w = {0x80ff7f01};
  struct flags flags = {5, -9, 0xabcde, 1, -123456789012L};
  int (*call)(int) = twice;
  unsigned long address = (unsigned long)&numbers[2];
  copy.self = &copy.next;
  calls++;
  sum = n + (*pp)->id + **ipp + text[0] + string[0] + w.whole + flags.low + call(calls) + (raw != 0) + (address != 0) + hits;
  return sum; /* here */
}

int main(void) {
  struct job second = {8, IDLE, {3, -4}, {{1, 2}, {3, 4}, {5, 6}}, {2, 7, 99, 0, 77}, {0x12345678}, {4, {-5}}, "second", "two"};
  struct job first = {-7, LATE, {-1, 2}, {{10, 20}, {-30, 40}, {50, -60}}, {7, -16, 0xfffff, 1, -1}, {0xdeadbeef}, {1, {300}}, "first",
                      "one", &second, &head, {{1, -2, 3}, {-4, 5, -6}}, twice};
  second.next = &first;
  head = &first;
  return work(&first, 1000, 200, -300, 1ul << 63, 'Q') == 0;
}
