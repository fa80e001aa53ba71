// Package symbol knows what the names of a program mean: where its functions, lines and static tracepoints are in the
// process, what the addresses of the process are called, and (by Program.Scope) what an expression means at one of them.
//
// A Program is the executable and the shared libraries that a process has loaded, each an Object with a bias: how far above
// where its file has it the object lies in the process. The files are only read; nothing here knows a process. A Program
// made by Open lies where its file has it, as GDB shows it before the program runs; Rebase moves it to where a process has it,
// and Fork makes another Program of the same files, for another process, at next to no cost.
//
// Locations are GDB's: Locate reads what GDB's break and trace take, and finds the addresses that GDB 13 would choose.
//
// # How a location is found
//
// The text is parsed into a spec, which knows nothing of the program. Its names are looked up in each object: functions in the
// index of debuginfo, which says in which units a name occurs, then among the blocks of those units; names without debug
// information among the symbols of ELF. What is found is a candidate. A line is looked up in the tables of all units that have
// the file. Either way the outcome is places, addresses of the file, which are moved behind prologues, reduced to one for each
// block, and described as Locations in the addresses of the process.
//
// A unit is read in two parts, each when it is first needed: its lines, in one table for each source file (linetable.go), and its
// blocks, the scopes that have code (blocks.go). Both are shaped as GDB's own tables are, since GDB's choices follow from them:
// which copies of a line become locations, where a prologue ends, which statement an address belongs to. Where this package and
// GDB could differ in taste, GDB is right, and the tests ask it: each kind of location, in programs of several languages and
// compilers, is compared with GDB's own answers.
//
// Names of functions are compared in parts (names.go). A user may leave out scopes, template arguments and parameters; what he
// writes has to fit. The names that he sees are those that GDB prints.
//
// # Where functions return
//
// Exits takes a function apart that Locate has found. What its pieces are comes from debug information, or from symbols: a
// compiler may have moved code that is hardly executed far away, into a part that has a symbol of its own. The instructions are
// the business of arch/exits; the unwind table says which computed jumps cannot leave the function.
//
// # Errors
//
// A location that cannot be read is a *SyntaxError with the place in the text, one that does not exist a *NotFoundError with the
// nearest names. Damaged debug information is no error: it has fewer names.
//
// All methods of a Program may be called by several goroutines.
package symbol
