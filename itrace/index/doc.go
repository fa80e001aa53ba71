// Package index finds places in execution traces of any length: where an address was executed, read or written, where a register
// was written, what either held at a position, and where an instruction, a line or a time is.
//
// Terms. Instructions are numbered from 0 in the order of the trace. Position n is that before instruction n: what the lines in
// front of its line say has happened. Effects belong to the instruction whose line is the last above them, and those above the
// first instruction have happened at position 0. The last position is that behind the last line.
//
// The trace is cut into blocks of about 256 KiB, between two units of its dialect (see itrace.Decoder), with the state that a
// decoder has there. Effects at the beginning of a block belong to the last instruction of one before. Of each block the index
// keeps sets, in the form of intervals: the bytes whose instructions were executed, the bytes read, those written, the registers
// written and those read; besides, which processors executed something, and the last value of each register written. Sixteen
// blocks make a node above them, with the unions of their sets, sixteen of these another, and so on up to a root. A question is a
// walk down this tree, forwards or backwards, to the next block that may have an answer. That block of the trace is then read
// again, which takes less than a millisecond and gives answers that are exact: the index never answers itself, it says where there
// is nothing to look for. Registers have all their values at the beginning of every sixteenth block, too.
//
// Lists of all accesses of every address, which come to mind first, answer no faster, and are five times as long as the trace in
// tools that have them; sets forget how often, and in loops that is nearly everything.
//
// The file is written in one go, front to back, while the trace is read once, in memory that does not grow with the trace but for
// 200 bytes a block and what bounds have been set to (see maxSpans). Each part has a checksum, and so has each piece of the trace,
// which is compared whenever the piece is read again: an index that is damaged, or that of another trace, makes an error and no
// answer.
//
// Nothing here opens a file.
package index
