// Package calls finds in an execution trace which function called which: a Walker reads the instructions one by one, keeps the
// calls that are active on each processor, and counts by paths of calls.
//
// Calls and returns are told by what instructions do (see arch/flow) and always held against the return addresses of the calls that
// are active: a jump to the return address of the latest call is a return whatever the instruction, and a return to that of an
// earlier one leaves all calls above it, as longjmp does. A jump to the beginning of another function takes the place of the
// function that jumps (a tail call). Where symbols are missing a function is what was called at its address.
//
// An exception or interrupt is told by an event of the trace, or by an instruction that goes where its opcode does not lead. Its
// handler has calls of its own, which are no callees of what was interrupted, until the instruction that leaves handlers. If that
// goes elsewhere than back, the interrupted calls are kept aside, as those of another task, until something goes to where they were
// left; so are the calls of a coroutine. Of tasks that stopped at the same address the one that has waited longest goes on.
//
// The tree of calls has a node for each path, with the number of calls, of instructions and, if the trace has it, the time. Memory
// is bounded: by so many nodes, beyond which calls count for their caller, and by so many active calls, beyond which the outermost
// are forgotten. Reading allocates nothing for a record.
package calls
