// Package check says what is wrong with a trace file: what GDB refuses, misreads or dies of, and what is legal but odd; and
// makes a file of what can be saved.
//
// Each finding breaks a rule, which has a name, tells what GDB 13.1 makes of the breach, and advises what to do. The rules that
// opening a file finds breaches of are package tfile's; those of its target description are package tdesc/check's; those here
// need the meaning of the definition lines, or the frames. What GDB itself always writes breaks no rule, though it may be odd.
//
// A breach that many frames share is one finding for each tracepoint: that of the first frame, with a count. So a report is
// short however long the file is, and frames are looked at one at a time, without allocation as long as they are clean.
//
// Report.Fix writes a file anew so that GDB opens it: with the definitions in a canonical form and order, and of each frame the
// blocks that can be read. It invents no value that was collected, and tells all that it changes.
//
// A check goes through the file once. The definition lines are looked at one by one (lines.go) and then as the tracepoints and
// variables that they make (tracepoints.go, description.go, program.go); the frames follow, each against its tracepoint
// (frames.go). Frames that cannot be read to their end are set aside, because the size of register blocks may be another than
// the R line says, which only all frames of a tracepoint together tell (damage.go). The counts of the status line come last
// (status.go). Fix works on what the check has learnt, and reads the file again.
package check
