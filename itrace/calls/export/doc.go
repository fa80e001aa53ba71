// Package export writes the calls of an execution trace as files of other tools: folded stacks, which flame graphs are made of;
// profiles of pprof; the format of callgrind, which KCachegrind and callgrind_annotate read; and traces of Perfetto, in which each
// call is a slice on the track of its processor.
//
// What is counted is instructions, and time if the trace has it. On the axis of Perfetto is the number of the instruction, as
// nanoseconds, or the trace's time.
package export
