// Functions that leave by a jump to another one, as C and as C++ at -O2.
#ifdef __cplusplus
extern "C" {
#endif
volatile int kept;
__attribute__((noinline)) int last(int n) { kept++; return n * 2; }
__attribute__((noinline)) int always(int n) { kept++; return last(n + 1); }
__attribute__((noinline)) int odd(int n) { kept++; if (n & 1) return last(n); kept++; return n; }
__attribute__((noinline)) int pointed(int (*f)(int), int n) { kept++; return f(n + 1); }
__attribute__((noinline)) void nothing(int n) { kept++; last(n); }
#ifdef __cplusplus
}
#endif

int main(void)
{
	int sum = 0;
	for (int i = 0; i < 4; i++)
		sum += always(i) + odd(i) + pointed(always, i);
	nothing(sum);
	return 0;
}
