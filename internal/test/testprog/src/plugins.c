/* plugins LIBRARY ROUNDS: loads a library, calls plugin_work() in it for the numbers from 1 to 3, and unloads it, ROUNDS times.
 * Nothing in this program is called that before. The last line tells how many calls there were and what they returned. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

typedef long work_function(long number);

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "";
    long rounds = argc > 2 ? atol(argv[2]) : 1;
    long calls = 0, sum = 0;

    for (long round = 0; round < rounds; round++) {
        void *library = dlopen(path, RTLD_NOW);
        work_function *work = library ? (work_function *)dlsym(library, "plugin_work") : NULL;
        if (work == NULL) {
            fprintf(stderr, "%s\n", dlerror());
            return 1;
        }
        for (long number = 1; number <= 3; number++, calls++)
            sum += work(number);
        dlclose(library);
    }
    printf("done calls=%ld sum=%ld\n", calls, sum);
    return 0;
}
