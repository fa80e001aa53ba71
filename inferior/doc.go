// Package inferior finds the files of a process and the addresses where they are loaded: the program itself, its dynamic linker,
// the shared libraries of every namespace, and the object that the kernel maps (vDSO).
//
// It reads the auxiliary vector, program headers, the dynamic linker's r_debug and link maps, and for thread-local variables the
// descriptions that glibc keeps of its own structures. Everything comes through Process, so that a stopped process under ptrace, a
// remote stub and a trace frame are read by the same code, with addresses of 32 or 64 bits in either byte order.
//
// What is read belongs to the program and cannot be trusted: a process may be stopped while its linker changes the list, may not
// have run its linker yet, or may have overwritten the list. Every loop has a limit, every list is checked for cycles, and memory
// that cannot be read is an error, never a panic.
//
// The facts come from the System V ABI (gABI, chapter 5), <link.h>, and nptl_db of glibc.
package inferior
