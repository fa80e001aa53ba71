// Package fast is the code and the memory by which a program collects traceframes itself, at a hundredth of the cost of a stop:
// jump pads, the ring that they write to, and the reader of that ring. It computes and knows no process: who uses it maps the
// memory, writes the pads into the program, patches the jumps that lead to them, and asks here what to do about a thread that
// has stopped in a pad.
//
// # Terms
//
// A site is an address with tracepoints that a jump leads away from. A pad is the code that the jump leads to: it collects, then
// executes the displaced instructions, those that the jump covers, and jumps back. The ring is memory that the program and its
// tracer share, mapped twice in a row on both sides so that nothing in it has a seam. A position counts the bytes that were ever
// reserved in the ring; it never wraps, and its lower bits are the place in the ring. A slot is what one hit of a site reserves:
// a header and, in the bytes of a trace file, a frame for each tracepoint of the site. The control area is the other memory that
// is shared: words that all pads look at.
//
// # What holds
//
// A pad reserves by one locked addition to the head, so all slots are in one order. A slot is whole when its first word is its
// own position exclusive-ored with the key of the run, and that word is written last; as the key is random, nothing that an
// earlier lap left can pass for it, and the reader has no need to clear anything. Pads touch general registers only and never
// call anything, so no other state has to be saved.
//
// Any thread can be taken out of a pad at any instruction, because each pad comes with a table that tells, for each, where the
// program's registers are and whether the hit has been recorded. Before the slot is committed the thread goes back to the site
// and hits again; after that it goes on with the displaced instructions. So no handler of a signal ever runs on top of a pad, no
// stopped thread is shown inside one, and a frame is made exactly once.
//
// Shared memory is hostile: the program can write all over it. The reader copies a slot before it looks at it, takes sizes from
// its own table, and gives up with an error where the two disagree.
package fast
