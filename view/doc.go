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
//
// A name comes about in these steps, each in a file of its own. The bytes of an action say what it can have collected
// (draft.go). The commands that the user typed say which texts there are and what each can have become (expectation.go), and
// where there is only one way to lay both side by side an action has the text for a name (pair.go). Debug information tells
// more: which variable lies where an action reads (variables.go), which type a name has, and how a text is evaluated that no
// action stands for (plan.go). What is still without a name is called by its bytecode written as C. A wrong name is worse than
// none, so that each step names only what is certain.
//
// Values leave the package as text, CSV or JSON (encode.go, json.go) or as ctype.Value, which a front end can unfold
// (ctype.Printer.Children). The shapes of JSON are structs of view/wire.
package view
