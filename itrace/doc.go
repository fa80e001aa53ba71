// Package itrace reads and writes execution traces: what a processor, or a model of one, says of the instructions that it
// executed and of their effects on registers and memory, a line of text for each.
//
// The lines come in many dialects, one a folder below this one. A Dialect turns a line into a Record and a Record into a line;
// a Reader does the rest: it reads blocks, finds lines, counts them, and keeps those that the dialect does not know. A
// Record is the same for all dialects, with its numbers decoded and its words as views of the line.
//
// Invariants. No line is dropped but blank ones: one that cannot be read is a Record of kind Unknown that says why. Reading
// takes no memory for a record, and no more for a long trace than for a short one. A Record's bytes are valid until the next
// Read. Nothing here opens a file.
//
// # Adding a dialect
//
// A dialect of Tarmac, Spike or QEMU is a folder of its own and a line in itrace/dialects; nothing else knows its name, and match
// and convert have it from then on. The example of itrace/dialects is a whole one. To do:
//
//   - A package comment with the grammar, a line of each kind as a producer wrote it, and which producers these are, with versions.
//   - A var Dialect. Its Name is for --dialect, --from and --to; its Suffixes are for files that convert writes.
//   - A parser for one trace, that keeps what lines inherit: the processor of the latest instruction, a time told once. It sets every
//     field that means something for the kind, as the record was used before, and allocates nothing. Numbers have functions
//     here (ParseDecimal, ParseHex, ParseDigits), words have WordEnd, and Mismatch points at what is wrong.
//   - A line that tells of several things, as one of Spike's commit log does of an instruction, registers and memory, is as many
//     records: the parser sets Record.More and goes on with the line when it is called again.
//   - What a line tells that Record has no field for stays in Record.Text. A field is added to Record, and to itrace/jsonl, when two
//     dialects have a meaning for it in common. A letter with a meaning in one dialect only, such as X behind the size of an
//     access, is kept as it is.
//   - Append, which writes what its parser reads back as the same record, for records of any dialect: a word that is wanted and not
//     told gets a usual one. EffectsTellCPU says whether lines of memory and registers name their processor.
//   - A line that is none of the dialect is refused, and nothing is guessed: the dialect of a trace is that which refuses the fewest
//     of its first lines.
//   - Anywhere, if it is so, lets match skip what is the same in two traces. FastPath makes that faster; it can wait until somebody has
//     long traces. The package matcher has it.
//   - Tests: real lines with all fields of their records, what is refused and at which column, no allocation, a fuzz test that
//     Append after Parse comes to the same, and the round trip through JSON lines of itrace/dialects.
package itrace
