// Package live holds the tests that trace real programs with the real GDB through "tracewell serve", from the first packet of
// a session to the trace file that a second GDB opens. It has no code of its own.
//
// The measure is never a recorded transcript but the program under trace: the programs of internal/test/testprog print what they
// compute, a test has GDB print the same line from what each frame collected, and the two have to be equal, all of them and
// in order. What a program cannot know (addresses, counts, reasons for stopping) is held against what the test itself asked
// for.
//
// A session that is started here talks to GDB only. Tests of single packets, of malformed ones and of lost connections are in
// the package stub.
package live
