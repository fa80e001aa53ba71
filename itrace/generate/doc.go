// Package generate writes execution traces to try tools on: those of a small MIPS program, as long as wanted, with faults where
// they are wanted.
//
// The program is interpreted, instruction by instruction, with delay slots; it mixes numbers, sorts them, sums them up by a
// function that it calls, and waits for a device, again and again, so that single addresses come back without end and the
// branches are not periodic. A trace is the same for the same Options, on every machine.
//
// A Fault is planted at one instruction. It changes the trace alone, as a fault of a tracer does, or the processor, whose
// later values are then wrong as well, as of a faulty model. What has been planted where is known exactly; so a comparison
// with the trace without faults has a right answer.
package generate
