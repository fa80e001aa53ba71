// Package robust holds the tests of what "tracewell serve" does when things go wrong: input that no client would send, clients
// that leave in the middle of something, servers that are ended, and programs that do to a tracer what programs can do.
//
// The tests run the binary over a real program of internal/test/testprog and talk to it as a client of the bare protocol, over
// a socket, so that they can send what GDB never would. What they look at is outside the server: its replies, what the
// program prints about its own results, and what the kernel says of both processes. There is no code but tests.
package robust
