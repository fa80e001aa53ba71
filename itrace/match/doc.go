// Package match compares execution traces: it finds the first place where another trace truly departs from a reference, and
// goes on behind it.
//
// Terms. A group is an instruction record with the effects that follow it, the memory and register records up to the next
// instruction of the same processor. Two groups are equal if instruction and effects mean the same under the rules in force;
// how numbers are written, in what order effects stand in a group, and how a store is split make no difference. The window is
// how many records late an effect may come. A divergence is where the two sides cannot be paired group by group any more;
// resynchronisation finds the next place from which they can, and what lies between is missing or extra. A root is a
// difference that no earlier one explains; a consequence is one that follows from a value that was wrong already.
//
// Invariants. Each processor is aligned on its own. Memory does not grow with the traces. A comparison of nothing is a failure,
// and so is a line that could not be read, unless that is allowed. Every rule that makes unequal things equal counts how often
// it did.
package match
