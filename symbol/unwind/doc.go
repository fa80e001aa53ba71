// Package unwind finds the calls that were active when registers and a part of the stack were collected: a backtrace, made
// afterwards, of memory that may be incomplete.
//
// A frame's caller is found by the call frame information (CFI) of the file that has the frame's code: where the caller's
// stack pointer was (the CFA), and where its registers were saved. The caller goes on at the return address, which is one of
// these registers. Where code has no CFI, the chain of frame pointers is followed if the machine has one and the next link is
// plausible. Such frames are marked, because functions may be missing in between.
//
// A backtrace that does not reach the outermost frame says why. The usual reason is that memory was not collected. Therefore a
// register that could not be restored carries the reason until something requires the register; most are never required.
//
// All that is particular to a machine comes from its row in package arch. Damaged CFI leads to an error, never to a panic or an
// endless walk: a caller's frame must lie above that of its callee, and the depth is bounded.
package unwind
