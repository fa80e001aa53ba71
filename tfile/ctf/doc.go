// Package ctf keeps trace runs in the Common Trace Format, version 1.8, as GDB's "tsave -ctf" does: for GDB's "target ctf",
// and for everything else that reads that format, such as babeltrace and Trace Compass.
//
// A trace is a directory of two files. "metadata" is text, in the language TSDL, which declares what the other consists of;
// "datastream" consists of packets, of which the first holds the definitions and each other one a frame:
//
//	packet:  magic 0xc1fc1fc1 u32, length of the content u32, length of the packet u32, tracepoint number u16,
//	         events up to the end of the content, 4 bytes of nothing
//	         (lengths are in bits and begin at the magic; number 0 is that of the first packet)
//	event:   id u32, fields
//	           frame                                            begins every packet
//	           register  the R bytes of a register block
//	           memory    address u64, length u16, bytes
//	           tsv       value u64, number u32                  a trace state variable
//	           status, tsv_def, tp_def                          definitions
//	           static    length u16, bytes                      data of a static tracepoint: not GDB's
//	           rest      length u32, bytes                      the end of a damaged frame: not GDB's
//
// A number is at a multiple of its length from the start of its packet, and all are in the byte order that the metadata
// states. Where GDB 13.1 wrote the same run, Write writes the same stream, and metadata that begin the same.
//
// GDB keeps no target description, no notes, no user, no times, and not why a run stopped. Write adds the definition lines of
// the trace file to the metadata, as strings of the env block, and events of classes that GDB does not have; GDB and others
// pass over both. Open takes the definitions from there if they are there, else from the stream.
//
// Open goes by what the metadata declare, in whatever order and alignment, as far as a trace of GDB's could be declared in
// other words: integers of whole bytes, strings, and arrays of them, in one stream whose packets hold a frame each.
//
// Everything is in bytes; files are the caller's.
package ctf
