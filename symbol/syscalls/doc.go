// Package syscalls says what the arguments and results of Linux's system calls are: their names, their types, and what is to be
// collected of the memory that they point to. A Scope is what names mean at the entry into a call, or at the return from it, as a
// scope of package symbol/scope is at an address of a program.
//
// The table has the parameters of the calls that programs make often (signatures.go). Any other has six arguments, arg0 to arg5, as
// the kernel cannot be asked how many there are. Values are written as strace does, but for memory that was not collected.
//
// Flags and structures have the values and layouts of the machines that use the kernel's generic ones, as x86-64 does.
package syscalls
