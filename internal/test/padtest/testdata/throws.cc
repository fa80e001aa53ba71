// Throws through frames of several kinds and checks what it catches: exceptions of values and classes, rethrown ones, those that
// leave destructors to run, and those that cross qsort. It prints sums that say how often each happened, and what it knew in each
// line with KNOWN, which a tracepoint there has to agree with.
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

static std::string log_;
__attribute__((noipa, format(printf, 2, 3))) static void known(int line, const char *format, ...) {
  char text[200];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  log_ += "known " + std::to_string(line) + " " + text + "\n";
}
#define KNOWN(...) known(__LINE__, __VA_ARGS__)

static long destroyed;
struct Guard {
  std::string name;
  double half;
  explicit Guard(long n) : name(std::to_string(n)), half(n / 2.0) {}
  ~Guard() { destroyed += name.size(); }
};

static long deep(long n, long depth) {
  Guard g(n);
  KNOWN("%ld %ld %s %.17g %ld", n, depth, g.name.c_str(), g.half, destroyed);
  if (depth == 0) {
    if (n % 3 == 0) throw n;
    if (n % 3 == 1) throw std::out_of_range("at " + std::to_string(n));
    return n;
  }
  try {
    return deep(n, depth - 1) + 1;
  } catch (const std::out_of_range &e) {
    KNOWN("%ld %ld %s", n, depth, g.name.c_str());
    if (n % 2) throw std::runtime_error(std::string(e.what()) + "!");
    throw;
  }
}

static int order(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  if (x == y) throw std::runtime_error("equal");
  return x < y ? -1 : 1;
}

int main(int argc, char **argv) {
  long rounds = argc > 1 ? atol(argv[1]) : 1000, values = 0, texts = 0, sum = 0, equal = 0;
  for (long n = 0; n < rounds; n++) {
    try {
      sum += deep(n, n % 7);
    } catch (long v) {
      if (v != n) return 1;
      values++;
    } catch (const std::exception &e) {
      texts += std::string(e.what()).size();
    }
    std::vector<uint32_t> v(20);
    for (size_t i = 0; i < v.size(); i++) v[i] = (uint32_t)(n * 31 + i * 2654435761u) % (n % 5 ? 1u << 31 : 37);
    try {
      qsort(v.data(), v.size(), sizeof v[0], order);
      KNOWN("%ld %ld %ld %ld", n, values, texts, sum);
      for (size_t i = 1; i < v.size(); i++)
        if (v[i - 1] >= v[i]) return 2;
    } catch (const std::runtime_error &) {
      equal++;
      KNOWN("%ld %ld %ld", n, equal, destroyed);
    }
  }
  printf("rounds %ld values %ld texts %ld sum %ld equal %ld destroyed %ld\n", rounds, values, texts, sum, equal, destroyed);
  fputs(log_.c_str(), stdout);
}
