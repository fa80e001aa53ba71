// Package ctf writes frames as events of the Common Trace Format, version 1.8, with a clock and typed fields, for babeltrace, Trace
// Compass and what else reads traces of LTTng. (Package tfile/ctf writes trace files in that format as GDB does, and reads them.)
//
// A trace is a directory of two files. In "datastream" there is one packet:
//
//	packet:  magic 0xc1fc1fc1 u32, events
//	event:   id u32, time u64 in nanoseconds, fields
//
// and "metadata" declares them. An event is named after the location of its tracepoint, and has a field for each column of package
// export that the frame has a value for. Frames that lack different ones are of different classes of the same name. Fields are not
// aligned, and in little endian. Their names are those of the columns with "_" for what cannot be in a name, and one in front,
// which readers take off.
package ctf
