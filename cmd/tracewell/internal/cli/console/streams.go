// Package console is what every command has to do with the world around it: the standard streams and how text is laid out on a
// terminal, the user's pager, signals and job control, and the exit status.
package console

import "os"

// Streams are the standard streams of a run.
type Streams struct{ In, Out, Err *os.File }
