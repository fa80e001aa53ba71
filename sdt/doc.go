// Package sdt reads static tracepoints as SystemTap's <sys/sdt.h> leaves them in programs and libraries: a nop in the code,
// and a note in the section .note.stapsdt that tells its address, its name and where its arguments are at that moment. It
// also finds the values of the arguments in a thread that has come there.
//
// The notes hold link-time addresses; what a process has loaded lies a bias away from them, which the caller knows. Nothing
// here reads a process: files are an io.ReaderAt, and registers and memory come through Env.
package sdt
