/*
 * A library with a variable of which each thread has its own, for locals.c. The way in which it is used has the dynamic
 * linker find room for it in all threads at once.
 */
__thread int fixed __attribute__((tls_model("initial-exec"))) = 7;

int *value_here(void) { return &fixed; }
