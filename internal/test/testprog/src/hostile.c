// A program whose names and values are made to harm whoever shows them: HTML, scripts, controls that turn text around, long texts.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct item {
  const char *name;
  char text[64];
  int number;
};

static const char *names[] = {
    "<img src=x onerror=\"document.title='harmed'\">",
    "</script><script>document.title='harmed'</script>",
    "\xe2\x80\xae"
    "gnp.exe \xe2\x80\x8f\xe2\x81\xa6",
    "\033[31m\a\b red ${7*7} {{7*7}}",
    "\xff\xfe not UTF-8 \xc3",
    "& &amp; &#60;b&#62; '\" ` javascript:alert(1)",
};

/* The linker's name of take is HTML, too. */
__attribute__((noinline)) int take(const struct item *item, const char *text, int n) __asm__("\"<script>alert(1)</script>\"");

int take(const struct item *item, const char *text, int n) { return item->number + text[0] + n; }

int main(void) {
  size_t size = 1 << 20;
  char *large = malloc(size + 1);
  memset(large, 'm', size);
  memcpy(large, "<b>", 3);
  large[size] = 0;
  int sum = 0;
  for (int i = 0; i < 60; i++) {
    struct item item = {.name = names[i % 6], .number = i};
    strncpy(item.text, names[(i + 1) % 6], sizeof item.text - 1);
    sum += take(&item, i == 7 ? large : names[i % 6], i);
  }
  printf("sum %d\n", sum);
}
