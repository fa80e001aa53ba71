/* family: prints a line for a line of input, has a child and a grandchild with the next, and sleeps in all three. The first pages of
   its code are unused. The grandchild ends with its parent, the child. */
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

__asm__(".text\n .fill 0x20000, 1, 0x90\n");

static int counter = 1;

int main(void)
{
    char line[64];
    if (fgets(line, sizeof line, stdin) == 0 || puts("ready") < 0 || fflush(stdout) != 0 || fgets(line, sizeof line, stdin) == 0)
        return counter;
    if (fork() == 0 && fork() == 0)
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    pause();
    return 0;
}
