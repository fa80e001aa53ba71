/* queue COUNT: puts COUNT items into a linked queue in groups of three and takes two of each group out again, the rest at
 * the end. Single thread; every call of push, pop and work prints a line when its effect is done. */
#include <stdio.h>
#include <stdlib.h>

struct item {
    struct item *next;
    int number;
    char label[12];
    double weight;
};

struct queue {
    struct item *head;
    struct item **tail;
    int length;
    int highest;
};

struct queue pending = { NULL, &pending.head, 0, 0 };
long pushes, pops;

__attribute__((noipa)) void push(struct queue *q, struct item *item)
{
    item->next = NULL;
    *q->tail = item;
    q->tail = &item->next;
    if (++q->length > q->highest)
        q->highest = q->length;
    pushes++;
    printf("push number=%d label=%s length=%d highest=%d pushes=%ld\n", item->number, item->label, q->length, /* mark: pushed */
           q->highest, pushes);
}

__attribute__((noipa)) struct item *pop(struct queue *q)
{
    struct item *item = q->head;
    if (item == NULL)
        return NULL;
    q->head = item->next;
    if (q->head == NULL)
        q->tail = &q->head;
    q->length--;
    pops++;
    printf("pop number=%d label=%s length=%d pops=%ld\n", item->number, item->label, q->length, pops); /* mark: popped */
    return item;
}

__attribute__((noipa)) long work(const struct item *item, int factor)
{
    long digits = 0;
    for (int n = item->number; n > 0; n /= 10)
        digits += n % 10;
    long result = digits * factor + (long)(item->weight * 2);
    printf("work number=%d factor=%d digits=%ld result=%ld\n", item->number, factor, digits, result); /* mark: worked */
    return result;
}

static struct item *make(int number)
{
    struct item *item = calloc(1, sizeof *item);
    if (item == NULL)
        abort();
    item->number = number;
    item->weight = number * 0.5;
    snprintf(item->label, sizeof item->label, "item-%d", number % 100000);
    return item;
}

static long take(int factor)
{
    struct item *item = pop(&pending);
    if (item == NULL)
        return 0;
    long result = work(item, factor);
    free(item);
    return result;
}

int main(int argc, char **argv)
{
    int count = argc > 1 ? atoi(argv[1]) : 10;
    long sum = 0;

    for (int number = 1; number <= count; number++) {
        push(&pending, make(number));
        if (number % 3 != 0)
            sum += take(number % 5);
    }
    while (pending.length > 0)
        sum += take(1);
    printf("done pushes=%ld pops=%ld highest=%d sum=%ld\n", pushes, pops, pending.highest, sum);
    return 0;
}
