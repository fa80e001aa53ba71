// Package sites counts what a processor executed at each address of an execution trace: how often the instruction there, and of a
// branch how often it was taken, with what the instruction does to the flow of control.
//
// A site is an address at which an instruction was executed. What the instruction there does is found out once, from its opcode in
// the trace, else from the program's code, else from its disassembly; and again where the trace has another opcode there later, as
// with code that is loaded or compiled at run time. So the memory taken is that of the code, whatever the length of the trace.
//
// The package does not know the order of execution: that is for calls, which reports where each branch went.
package sites
