/*
 * A structure with a member of every kind of value, handed to take from two threads and from a child process:
 *
 *   take n=3 pid=4711 tid=4712 i8=-3 … text=6a6f62 …    the values of a call, texts in hexadecimal
 *   miss n=9                                            one whose structure is not there
 *
 * then late, once in each process, which has an argument alone.
 */
#define _GNU_SOURCE
#include <complex.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum color { RED, GREEN = 5, BLUE = -3 };
enum flags { READ = 1, WRITE = 2, RUN = 4 };
struct kinds {
	int8_t i8; uint8_t u8; int16_t i16; uint16_t u16; int32_t i32; uint32_t u32; int64_t i64; uint64_t u64;
	__int128 i128; float f; double d; long double ld; double complex z; bool b; char c;
	enum color color; enum flags flags; char text[40]; const char *pointed; int *p;
	int array[3]; unsigned bits : 3; int sbits : 5;
	struct { short s; float weights[2]; } inner;
};

static const char *colors[] = { "RED", "GREEN", "BLUE" }, *rights[] = { "0", "READ", "WRITE", "(READ|WRITE)" };

static void hex(const char *name, const char *text)
{
	printf(" %s=", name);
	while (*text)
		printf("%02x", (unsigned char)*text++);
}

__attribute__((noinline)) long take(struct kinds *k, const char *name, int n) { return k ? k->i8 + n + *name : n; }

__attribute__((noinline)) long late(int n) { return n; }

static void *run(void *base)
{
	for (int i = 0; i < 10; i++) {
		int n = *(int *)base + i;
		char name[40];
		struct kinds k = {
			.i8 = -n, .u8 = 255 - n, .i16 = -300 * n, .u16 = 65535 - n, .i32 = -100000 * n, .u32 = 4294967295u - n,
			.i64 = INT64_MIN + n, .u64 = UINT64_MAX - n, .i128 = -((__int128)n << 90), .f = n / 3.0f, .d = n / 7.0, .ld = n / 8.0L,
			.z = n + 0.5 * n * I, .b = n & 1, .c = 'a' + n % 26, .color = n % 3 == 0 ? RED : n % 3 == 1 ? GREEN : BLUE,
			.flags = n & 3, .pointed = name, .p = n % 4 ? &k.i32 : 0, .array = { n, -n, 2 * n }, .bits = n & 7, .sbits = -(n & 15),
			.inner = { -n, { n * 0.5f, n * 0.1f } },
		};
		snprintf(k.text, sizeof k.text, n % 2 ? "t\xc3\xa4glich %d \xe6\x97\xa5 a, b" : "say \"%d\";\t\\", n);
		snprintf(name, sizeof name, "job %d", n);
		if (i == 9) {
			take(NULL, name, n);
			printf("miss n=%d\n", n);
			continue;
		}
		take(&k, name, n);
		flockfile(stdout);
		printf("take n=%d pid=%d tid=%d i8=%d u8=%u i16=%d u16=%u i32=%d u32=%u i64=%ld u64=%lu f=%.9g d=%.17g ld=%.18Lg "
		       "z=%g+%gi b=%s c=%d color=%s flags=%s p=%lu array=[%d,%d,%d] bits=%d sbits=%d inner.s=%d inner.weights=[%.9g,%.9g]",
		       n, getpid(), gettid(), k.i8, k.u8, k.i16, k.u16, k.i32, k.u32, k.i64, k.u64, k.f, k.d, k.ld, creal(k.z), cimag(k.z),
		       k.b ? "true" : "false", k.c, colors[n % 3], rights[n & 3], (unsigned long)k.p, k.array[0], k.array[1], k.array[2],
		       k.bits, k.sbits, k.inner.s, k.inner.weights[0], k.inner.weights[1]);
		hex("text", k.text);
		hex("pointed", name);
		putchar('\n');
		funlockfile(stdout);
	}
	return NULL;
}

int main(void)
{
	int base[] = { 0, 40, 80 };
	pthread_t thread;
	pthread_create(&thread, NULL, run, &base[1]);
	run(&base[0]);
	pthread_join(thread, NULL);
	late(1000);
	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		run(&base[2]);
		late(1001);
		fflush(stdout);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	return 0;
}
