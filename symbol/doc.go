// Package symbol knows what the names of a program mean: where its functions, lines and static tracepoints are in the
// process, what the addresses of the process are called, and (by Program.Scope) what an expression means at one of them.
//
// A Program is the executable and the shared libraries that a process has loaded, each an Object with a bias: how far above
// where its file has it the object lies in the process. The files are only read; nothing here knows a process. A Program
// made by Open lies where its file has it, as GDB shows it before the program runs; Rebase moves it to where a process has it,
// and Fork makes another Program of the same files, for another process, at next to no cost.
//
// Locations are GDB's: Locate reads what GDB's break and trace take, and finds the addresses that GDB 13 would choose.
//
// All methods of a Program may be called by several goroutines.
package symbol
