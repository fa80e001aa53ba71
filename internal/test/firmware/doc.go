// Package firmware has programs for bare machines, and starts them under QEMU as the peers of tests: a stub of its own, that GDB
// or tracewell connects to, in front of a program that keeps what a tracer should see in it.
//
// The program is the same C on all machines (testdata/core.c): each hart calls step(i, p) over and over, and done after the last
// call. What the arguments, some locals and the result were at each call stands in a ring in its own memory (Kept), which
// Machine.Kept reads through QEMU's monitor, past the stub. One read of a device in step is destructive: a second reader leaves a
// misread call behind.
//
// The compiler is clang, which has all targets in one package, with lld. What it makes is kept in the user's cache under a name
// made of the sources, flags and compiler. A machine ends with its test, or with the process of the test if that is killed. Where a
// tool is missing the test fails; nothing here skips. Only tests import this package.
package firmware
