// Package sys is the project's one door to the Linux kernel: ptrace, wait, the memory of other processes, what /proc
// tells of them, and the few per-thread settings that a tracer needs. It is the only package that imports x/sys/unix.
//
// It mirrors the kernel and decides nothing. Every ptrace request must come from the thread that seized the tracee, so
// callers lock their goroutine to its thread before the first of them. ESRCH from a request means that the tracee is gone
// or not stopped: a normal answer, for a tracee may die at any moment.
package sys
