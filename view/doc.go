// Package view says what the frames of a trace file mean: which tracepoint made one, where the program was, and what
// was collected, by the names of registers, symbols and trace state variables.
//
// A View is over one trace; it holds what is the same for all frames, so that a frame costs little beyond its own bytes. What
// the trace does not tell stays unknown: nothing is guessed, but for the pc of a frame without registers and for where a
// program that can be loaded anywhere was loaded (see New). A View does not change and may be used by several goroutines.
//
// What a tracepoint collects are its Items, worked out once from its actions and from the commands that the user gave. A
// Reader finds them in one frame after the other; a Condition or an Expression computes with them. These hold the room for
// it, so that a frame costs no memory, and belong to one goroutine each.
package view
