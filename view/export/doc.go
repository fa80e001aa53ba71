// Package export makes a table of frames, for formats that want to know of each value what it is: a column for each thing that some
// tracepoint collects, with a type, and a row for each frame. The packages below it write such tables as files of other tools.
//
// The columns are those of CSV (view/wire) with types. A structure has a column for each of its members. An enumerator is its name,
// and a pointer to characters is the text as far as the frame has it. What has no type of its own in a table, such as an array, is
// the JSON that "show --json" has of it, as a text.
//
// Nothing is opened, and no more than a frame is held.
package export
