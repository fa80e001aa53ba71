// Package edit makes trace files of others: cut down to some of the frames, or merged from several files of one experiment.
//
// What it returns is a tfile.Content over those that it was given, which must stay open and unchanged. Frames are read when
// they are asked for and not kept. Headers are made anew, so that what GDB says of the result is true of it.
package edit
