// Package frameview says what the frames of a trace file mean: which tracepoint made one, where the program was, and what
// was collected, by the names of registers, symbols and trace state variables.
//
// A View is over one open trace file; it holds what is the same for all frames, so that a frame costs little beyond its own
// bytes. What the file does not tell stays unknown: nothing is guessed, but for the pc of a frame without registers and for
// where a program that can be loaded anywhere was loaded (see New). A View does not change and may be used by several
// goroutines.
package frameview
