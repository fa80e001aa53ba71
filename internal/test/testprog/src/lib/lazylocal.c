/*
 * A library with variables of which each thread has its own, for locals.c. A thread has no room for them before it uses one.
 */
__thread int lazy_padding[3000];
__thread int lazy = 5;

int *value_here(void) { return &lazy; }
