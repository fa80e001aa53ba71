/*
 * Libraries of one file, loaded more than once into namespaces of their own.
 *
 *   namespaces LIBRARY COUNT
 *
 * loads LIBRARY, made of lib/lazylocal.c, into the program's own namespace and then COUNT times into a new one, calls loaded
 * after each time, and prints for each
 *
 *   library n=N at=ADDRESS
 *
 * where ADDRESS is that of its function, and in the end "done libraries=N". Without LIBRARY there are none.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

void loaded(int n) { (void)n; }

int main(int argc, char **argv)
{
	int count = argc > 2 ? atoi(argv[2]) + 1 : 0;
	for (int n = 0; n < count; n++) {
		void *library = dlmopen(n == 0 ? LM_ID_BASE : LM_ID_NEWLM, argv[1], RTLD_NOW);
		if (library == NULL) {
			fprintf(stderr, "%s\n", dlerror());
			return 1;
		}
		printf("library n=%d at=%p\n", n, dlsym(library, "value_here"));
		loaded(n);
	}
	printf("done libraries=%d\n", count);
	return 0;
}
