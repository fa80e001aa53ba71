// Package progress shows on a terminal how far long work has come: a bar with the speed and the time that is left.
//
// It stays out of the way: there is no bar for what is done within a second, none where the messages of a command do not go to
// a terminal, and when the work is done the bar is gone without a trace. While one is shown nobody else may write to the
// terminal.
package progress
