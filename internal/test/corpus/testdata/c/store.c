/* The store: a list of items, in a shared library of its own. */
#include "store.h"

#include <string.h>

int store_limit = 100;
__thread int store_calls = 3;
static unsigned char seed = 0xa5;
static const char *last_name = "none";

static int by_weight(const struct item *a, const struct item *b)
{
    return a->weight < b->weight ? -1 : a->weight > b->weight;
}

struct store main_store = {.title = "main", .compare = by_weight, .load = {0.5, -1.25, 1e30}, .inner = -7};

void store_add(struct store *s, struct item *i)
{
    static int added;
    struct item **place = &s->first;
    while (*place && s->compare(*place, i) < 0)
        place = &(*place)->next;
    i->next = *place; /* @add */
    *place = i;
    added++;
    store_calls += 2;
    s->deep[added & 1][s->count % 3] = (signed char)-added;
    s->count += 1; /* @added */
    last_name = i->name;
    seed ^= (unsigned char)added;
}

long store_sum(const struct store *s, long factor)
{
    long sum = 0;
    unsigned short turn = 65530;
    for (const struct item *i = s->first; i; i = i->next) {
        long part = i->weight * factor;
        sum += part;
        turn += 3; /* @sum */
    }
    return sum + turn;
}

int store_find(const struct store *s, const char *name, struct item **found)
{
    int steps = 0;
    for (struct item *i = s->first; i; i = i->next, steps++) {
        if (strcmp(i->name, name) == 0) {
            *found = i;
            return steps; /* @found */
        }
    }
    *found = NULL;
    return -1; /* @missing */
}
