// Package itrace reads and writes execution traces: what a processor, or a model of one, says of the instructions that it executed
// and of their effects on registers and memory, as text or in a binary format.
//
// There are many dialects, one a folder below this one. A Dialect's Decoder turns text into Records, and its Append may turn
// Records into text; a Reader does the rest: it reads blocks, counts lines, and keeps what the dialect does not know. A Record is
// the same for all dialects, with its numbers decoded and its words as views of the text.
//
// Invariants. Nothing is dropped but blank lines: what cannot be read is a Record of kind Unknown that says why, and what means
// nothing is a Remark. Reading takes no memory for a record, and no more for a long trace than for a short one. A Record's bytes
// are valid until the next Read. Nothing here opens a file.
//
// # Adding a dialect
//
// A dialect is a folder of its own, a line in itrace/dialects, one in docs/layers.txt and a row in docs/exec-traces.md; nothing
// else knows its name, and match, replay and convert have it from then on. Package spike is one with all that there is, ibex one of
// single lines, and the example of itrace/dialects the smallest. To do:
//
//   - A package comment with the grammar, a line of each kind as a producer wrote it, and which producers these are, with versions.
//   - A var Dialect. Its Name is for --dialect, --from and --to; its Suffixes are for files that convert writes. Why says what kind
//     of log the beginning of a trace is. Options are for what a trace does not tell: New is given them as Settings.
//   - A decoder, by the simplest of three ways. A Parser makes one record of each line: Lines(p). A LineReader makes any number of
//     records of each line, also none: EachLine(l). A Decoder looks at several lines together, a unit: it takes lines by
//     Batch.Line, which gives a negative place where the next line is not whole yet; then it returns the place where the unit
//     began, and is called again with more text (Batch.Truncate takes back what was added of it). With last there is no more. It
//     stops between units where Batch.Full says so.
//   - Records are added by Batch.Add, clean, in the order instruction, effects, events; they are of the line that was last taken by
//     Batch.Line, so take the line again by its place before adding what belongs to it. The first record of a unit should be an
//     instruction at the unit's first line, or effects of the instruction before: blocks of an index, and skips of match, begin at
//     units.
//   - Where the producer writes effects in front of their instruction, the unit goes from there to the instruction, which is added
//     first. Where it writes them behind the next instruction (as dumps of registers), the unit goes to where that is known, and
//     they are added in front of the next instruction. Only what comes later than that is added where it is, with Record.Back and
//     Dialect.Defers.
//   - Digits that do not stand together in the text (groups with separators, bytes in another order) are put together in a buffer
//     of the decoder, which the next Decode may use again. Package tarmac does so.
//   - All that the meaning of later lines depends on is state: AppendState writes it, Restore reads it. Embed Stateless if there is
//     none. Keep copies of bytes there, never views of the text. A place in the middle of a unit is none where a state is asked
//     for.
//   - Each instruction's Scope says what the trace tells of it, by flags of what is not told and of what is told besides. It may be
//     known only after some lines (the first line with registers): keep it in the state. Data that are not told have no Digits;
//     accesses whose size is not told have Size 0.
//   - Numbers have functions here (ParseDecimal, ParseHex, ParseDigits) and, for hot paths, in itrace/internal/swar; Lookahead
//     bytes behind a text may be looked at. Mismatch points at what is wrong, with Batch.Fail or as the result of Line. Nothing is
//     allocated for a record. Package itrace/internal/riscv has names of registers, those of control and status by their numbers,
//     modes, and sizes and directions of accesses.
//   - What a trace tells that Record has no field for stays in Record.Text. A field is added to Extra, and to itrace/jsonl, when
//     two dialects have a meaning for it in common.
//   - Append is given records, with Groups an instruction and all its effects, with Leads the effects of an instruction and the
//     next one, and writes what reading makes the same records of, for records of any dialect: a word that is wanted and not told
//     gets a usual one. It keeps nothing between calls. Of a line that could be read in part the records are written, not the line
//     again. Header is what precedes all records. Writes says which records it has words for; convert reports the others.
//   - A line that is none of the dialect is refused, and nothing is guessed: the dialect of a trace is that which refuses the
//     fewest of its first lines. A line of no meaning (a header, a comment) is a Remark, and counts for no dialect.
//   - A dialect of binary data has Binary. Its decoder looks at the text itself, and takes packets by Batch.Packet, in their
//     order and only whole ones, with the words that they are quoted by; Digits may be views of these. The reader cannot skip
//     damage, as it does with lines that are too long: the decoder tells what is no packet, and goes on behind it. What is said
//     here of lines is true of packets. Package rvfi is one, with a Writer, which keeps back what depends on the next instruction.
//   - Tests: dialecttest.Run with a museum of real lines, with producer and version: it reads them in pieces of every size, from
//     every state, and round by JSON lines, and counts allocations. Besides it what the records of each kind of line are, what is
//     refused and at which column, a fuzz target (dialecttest.Fuzz), a benchmark, and real traces against each other in
//     itrace/dialects.
package itrace
