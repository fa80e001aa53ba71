/*
 * Variables of which each thread has its own: in the program, and in a library that it loads at run time.
 *
 *   locals LIBRARY...
 *
 * loads each LIBRARY, made of lib/lazylocal.c or lib/fixedlocal.c, when two of its three threads are running already. Thread 1
 * never uses the libraries' variables, thread 2 does; thread 3 is started last and does, too. When all have done so, meet is
 * called once. It prints, for each thread,
 *
 *   local thread=N counter=VALUE at=ADDRESS
 *   loaded thread=N library=M value=VALUE at=ADDRESS
 *
 * the latter for the threads that use the libraries, M counting these from 0, and in the end
 *
 *   done threads=3
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS 3
#define LIBRARIES 100

__thread long before = 77;
__thread long counter = 100;
__thread char buffer[400] __attribute__((aligned(64)));

int *(*libraries[LIBRARIES])(void);
int library_count;
pthread_t threads[THREADS + 1];

static pthread_barrier_t first_runs, loaded, used, met;

void meet(void) { }

static void use_libraries(int thread)
{
	for (int i = 0; i < library_count; i++) {
		int *value = libraries[i]();
		*value += 1000 * thread + i;
		printf("loaded thread=%d library=%d value=%d at=%#lx\n", thread, i, *value, (long)(uintptr_t)value);
	}
}

static void *run(void *argument)
{
	int thread = (int)(intptr_t)argument;
	counter += thread;
	before += thread;
	buffer[0] = (char)thread;
	flockfile(stdout);
	printf("local thread=%d counter=%ld at=%#lx\n", thread, counter, (long)(uintptr_t)&counter);
	funlockfile(stdout);
	if (thread == 1)
		pthread_barrier_wait(&first_runs);
	if (thread <= 2)
		pthread_barrier_wait(&loaded);
	if (thread != 1) {
		flockfile(stdout);
		use_libraries(thread);
		funlockfile(stdout);
	}
	pthread_barrier_wait(&used);
	pthread_barrier_wait(&met);
	return NULL;
}

static void start(int thread)
{
	if (pthread_create(&threads[thread], NULL, run, (void *)(intptr_t)thread) != 0)
		abort();
}

static void load(const char *path)
{
	void *library = dlopen(path, RTLD_NOW);
	if (library == NULL) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	*(void **)&libraries[library_count] = dlsym(library, "value_here");
	if (libraries[library_count++] == NULL)
		abort();
}

int main(int argc, char **argv)
{
	threads[0] = pthread_self();
	pthread_barrier_init(&first_runs, NULL, 2);
	pthread_barrier_init(&loaded, NULL, 3);
	pthread_barrier_init(&used, NULL, THREADS + 1);
	pthread_barrier_init(&met, NULL, THREADS + 1);
	start(1);
	pthread_barrier_wait(&first_runs);
	start(2);
	for (int i = 1; i < argc && i <= LIBRARIES; i++)
		load(argv[i]);
	pthread_barrier_wait(&loaded);
	start(3);
	pthread_barrier_wait(&used);
	meet();
	pthread_barrier_wait(&met);
	for (int i = 1; i <= THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("done threads=%d\n", THREADS);
	return 0;
}
