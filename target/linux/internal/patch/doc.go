// Package patch keeps account of what a tracer writes into a program's code: patches over the program's own bytes, and buffers
// with displaced copies of its instructions. It is bookkeeping over a memory that can be read and written; it knows neither
// processes nor instruction sets.
//
// A patch is bytes of any length at one address: a breakpoint instruction, or a jump elsewhere. A buffer is code that a thread
// executes in place of instructions under a patch; its pc map relates each place in it to the program's own pc. A Space holds
// those of one address space.
//
// # Rules
//
//   - Patches do not overlap: Insert refuses, and the error names the patch that is in the way. Inserting the same bytes at the
//     same address again returns the patch that is there. Borrow alone overwrites patches, for as long as no thread runs and
//     nothing else is done to the Space.
//   - A byte of a patch's range counts as ours if it has the inserted value. Any other value is the program's own: it has written
//     or mapped other code there. Such a byte is not hidden, and it is not put back.
//   - Reads show the program's own bytes. Writes change those, under the patches, which stay inserted.
//   - Memory that cannot be read any more needs nothing put back: the program has unmapped it, or is gone. Failing to put a byte
//     back otherwise is an error, and the program is unsafe from then on.
//   - A patch of one byte, or of one word where the processor fetches words, may come and go while threads run. Around any other
//     the caller stops them, with no pc inside.
//   - A buffer never changes and its room is never used again, so a thread may be in it at any time.
package patch
