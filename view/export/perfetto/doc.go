// Package perfetto writes frames as a trace of Perfetto (https://perfetto.dev), in its format of track events:
//
//	process                    named after the program
//	  thread                   a slice for each call of which the frames of entry and return are there, and an instant for each other
//	                           frame, with all values as arguments
//	  goroutine                likewise, for calls in Go: their threads change
//	  counter                  of each number that tracepoints collect
//
// Frames that have one value of an expression in common can be joined by arrows, whatever threads made them (a flow).
//
// Processes and threads are those of $pid and $tid. Without $pid a trace does not say which process it is of, and tracks have names
// alone. Times are those of $trace_timestamp, in nanoseconds; a frame without one is placed one nanosecond behind the one before,
// to keep its place. Nothing but the names of tracks and the calls that are open is kept of a frame that is written.
package perfetto
