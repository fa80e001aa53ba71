// Package packed opens and creates files that may be compressed, by gzip or by Zstandard.
//
// What is read is recognised by its first bytes, never by its name, and may come from anywhere: a plain regular file is used
// where it is; everything else, compressed files and pipes, is unpacked once, into memory while it is small and from there on
// into a file without a name, so that a file that unpacks to something enormous costs disk and not memory. What is written is
// compressed as the suffix of its name says.
//
// Zstandard files are written in the seekable format: in frames of a megabyte of content, with a table of them at the end, which
// to everybody else is a Zstandard file like others. Of a large file with such a table, whoever wrote it, only those frames are
// unpacked that are read, in memory, so that it is used where it is as a plain one is.
//
// The package knows nothing of what the files hold.
package packed
