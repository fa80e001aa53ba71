// A program that keeps account of its own calls. Each arrival at leaf prints them, the outermost first, and how deep the stack is:
//
//	leaf stack=main;left;leaf bytes=240
//
// Some stacks are deeper than what is collected of a stack by default.
#include <stdio.h>
#include <string.h>

static char calls[4096];
static char *outermost; // where the stack of main is

#define ENTER size_t before = strlen(calls); strcat(strcat(calls, before ? ";" : ""), __func__)
#define LEAVE calls[before] = 0

__attribute__((noinline)) void leaf(void) {
    ENTER;
    printf("leaf stack=%s bytes=%ld\n", calls, (long)(outermost - (char *)__builtin_frame_address(0)));
    LEAVE;
}

static inline __attribute__((always_inline)) void inlined(void) {
    ENTER;
    leaf();
    LEAVE;
}

static void left(void) {
    ENTER;
    inlined();
    leaf();
    LEAVE;
}

static void right(int depth) {
    ENTER;
    volatile char room[3000];
    room[depth] = 0;
    if (depth > 0) {
        right(depth - 1);
    } else {
        inlined();
    }
    (void)room[depth];
    LEAVE;
}

int main(void) {
    ENTER;
    outermost = __builtin_frame_address(0);
    for (int i = 0; i < 3; i++) {
        left();
        right(i);
        right(8);
    }
    inlined();
    LEAVE;
    return 0;
}
