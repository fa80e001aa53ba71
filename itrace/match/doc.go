// Package match compares execution traces: it finds the first place where another trace truly departs from a reference, and
// goes on behind it.
//
// Terms. A group is an instruction record with the effects that follow it, the memory and register records up to the next
// instruction of the same processor. Two groups are equal if instruction and effects mean the same under the rules in force;
// how numbers are written, in what order effects stand in a group as long as the outcome is the same, and how a store is split
// make no difference. The window is how many records are compared at once: an effect may come one record less late, or early, but
// not behind one that it does not commute with. A stretch is what one side has between two pairs of groups and the other has not.
// A root cause is a difference that no earlier one explains; a consequence is one that follows from a value that was wrong
// already, and is only counted.
//
// Invariants. Each processor is aligned on its own. Memory does not grow with the traces. A comparison of nothing is a failure,
// and so is a line that could not be read, unless that is allowed. Every rule that makes unequal things equal counts how often
// it did. One fault is one difference: what else is wrong with the same instruction is a consequence. The report is the same for
// the same traces.
//
// # What a stretch is named
//
// A stretch of one side is a loop if it comes back to where it began and where the other side is, or repeats the addresses that
// came just before it; a handler if it begins far from where the program was and where it goes on, comes by neither, and ends
// with a jump; and missing or extra otherwise. Ahead of the first pair nothing says where the program was: what is there is
// missing or extra, be it a handler. A stretch of both sides is of class pc: they went different ways.
//
// # What follows from what
//
// An instruction follows from what was wrong before if it reads a register of which the two sides hold different values, or memory
// that was written differently; a parting, if a branch has read such a register, or flags that such a register has set, and the two
// sides are where it leads. What an instruction reads is told by its disassembly. A load or store shows more: where address
// and data are the same on both sides, the registers that they come from were not the reason. A register whose record was wrong and
// whose value was not is found out when an instruction that reads it has the same effects on both sides, within 64
// instructions.
//
// # Rules
//
// What differs between producers and not between executions is left out by rules, each of which counts what it did. Rules about how
// something is written bring each side to one form as it is read, so that equal groups have equal hashes. What can only be told
// of a pair (RuleLanes) takes the way of groups that differ. Rules about when something happens leave out stretches by what they
// are named, and only where nothing is left behind that either side reads. Package profile has sets of rules for pairs of
// producers.
//
// # Limits
//
// Without a disassembly an instruction may read any register: a second fault is then taken for a consequence as long as some
// register differs, but for those that only a stretch has written, and for loads that differ at the same address.
//
// A second fault is a consequence to all appearances if its instruction reads what the first has made wrong, or lies on a way that
// only one side went. Two faults side by side can be one stretch, or one difference of class pc. A loop variable that is wrong by
// whole rounds is taken for missing or repeated rounds unless what they store is loaded soon. What a device says at other times,
// because the program has asked it more or less often, is a difference of its own. Where stretches were passed over, a tail that
// is as long as some of them together is taken for theirs: a trace of so many instructions ends earlier in the program by as
// much. An effect that comes later than 64 records, or four windows, is missing in one place and too many in another. Where only
// the first difference is wanted less is looked ahead, and it may be named otherwise. Of more than 512 effects of one
// instruction, or of effects without one, each 512 are taken for themselves, and what comes up to 64 records behind them. Of an
// access of more than 1024 bytes only so many are looked at for the order of accesses.
package match
