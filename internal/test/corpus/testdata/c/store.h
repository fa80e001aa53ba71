/* What the store, a shared library, offers the program. */
#ifndef STORE_H
#define STORE_H

#include <stddef.h>
#include <stdint.h>

enum color { RED, GREEN = 5, BLUE };
enum access { READ = 1, WRITE = 2, EXECUTE = 4 };

struct point { int x, y; };

struct packed_header {
    uint8_t kind;
    uint32_t length;
    uint16_t check;
} __attribute__((packed));

struct flags {
    unsigned ready : 1;
    unsigned mode : 3;
    int level : 5;
    unsigned long wide : 40;
    _Bool last : 1;
};

union word {
    uint32_t whole;
    uint16_t halves[2];
    unsigned char bytes[4];
    float real;
};

struct item {
    struct item *next;
    char name[12];
    long weight;
    enum color color;
    struct point at;
    union word word;
};

struct store {
    struct item *first;
    size_t count;
    const char *title;
    int (*compare)(const struct item *, const struct item *);
    double load[3];
    struct { short inner; signed char deep[2][3]; };
};

extern int store_limit;
extern struct store main_store;
extern __thread int store_calls;

void store_add(struct store *s, struct item *i);
long store_sum(const struct store *s, long factor);
int store_find(const struct store *s, const char *name, struct item **found);

#endif
