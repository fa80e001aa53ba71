// Package stub is the server of GDB's remote serial protocol: it puts a target.Target, and the tracepoint engine beside it,
// behind the packets that GDB sends.
//
// A Server outlives connections; it keeps what a client that comes back expects to find: whether the program runs, how
// it last stopped, and by way of the engine the tracepoints, variables, frames and notes. A session is one connection: its
// acknowledgments, the features its client announced, the selected thread and frame, the places of its lists, its open files.
//
// One table (packets.go) says which packets there are, which ability of the target each needs, what it replies, why it may
// fail, which features it makes qSupported announce and where gdbserver differs. It is the dispatcher, the feature list and
// the reference at once; a packet that is not in it, or whose ability the target lacks, gets the empty reply. Handlers are
// in one file per family, named after it.
//
// There may be several processes. In all-stop mode they stop and go on together, and the reply to a resumption is the event
// that ends it; in non-stop mode each thread stops alone and events are notifications (nonstop.go). A trace run belongs to
// one process. Without a client the program is in all-stop mode.
//
// Errors are of two kinds. What goes wrong in answering one packet, be it malformed or refused by the target, is the reply
// to that packet, and the session goes on. What goes wrong with the connection ends the session, never the program.
//
// Each connection has one goroutine that reads; everything else happens on the goroutine that called Serve, which while
// the program runs waits for its event and for input alike. Nothing here listens, dials or touches a process.
//
// The rules are those of the GDB manual, appendix "GDB Remote Serial Protocol"; where a client needs something else the
// code names the client and what it does.
package stub
