// Functions that exceptions pass through: one that catches, one that cleans up, one that does both in a loop, and one whose
// handlers the compiler puts elsewhere.
struct Guarded {
  int *held;
  ~Guarded() { ++*held; }
};

int depth;

__attribute__((noinline)) void thrower(int n) {
  if (n % 3 == 0) throw n;
  if (n % 3 == 1) throw 1.5;
}

__attribute__((noinline)) int catches(int n) {
  try {
    thrower(n);
  } catch (int caught) {
    return caught;
  }
  return -1;
}

__attribute__((noinline)) int cleans(int n) {
  int held = 0;
  {
    Guarded guarded{&held};
    thrower(n);
  }
  return held;
}

__attribute__((noinline)) int loops(int n) {
  int sum = 0;
  for (int i = 0; i < n; i++) {
    try {
      Guarded guarded{&sum};
      sum += cleans(i);
    } catch (double) {
      sum += 2;
    } catch (...) {
      sum += catches(i);
    }
  }
  return sum;
}

int main() { return loops(30) == 0; }
