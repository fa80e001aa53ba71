// Package debuginfo reads the debug information of one ELF file: where its functions, variables and types are described, which
// line an address belongs to, where a variable lies at a pc, and how a frame is unwound there.
//
// The information may be in the file itself, in a separate file found by build-id or debug link, partly in a file that dwz made
// out of what several have in common, or in .dwo files beside the objects; sections may be compressed. A File makes one space of
// all of them: an Offset names a description (a DIE, debugging information entry) wherever it is, and references between the
// files are followed without the caller noticing.
//
// Terms. A unit is what the compiler saw in one go. A DIE has a tag, attributes and children, and is identified by its Offset.
// A function may be described several times: as a declaration in its class, as an abstract instance that was inlined, as a
// concrete one with code. Root leads from any of these to the one description that the others refer to, Instances from there to
// all code.
//
// How it is fast. Files are mapped, not read; an abbreviation, the plan by which a DIE is laid out, is turned into steps once
// and DIEs that nobody asks for are stepped over by it. The names of a file are found by one pass over all units, on as many
// processors as there are; what is kept is 20 bytes for each name, its hash and where it is, never the name. Everything finer (the
// inlined copies in a unit, the nesting of its DIEs, its lines) is read when that unit is asked for.
//
// All addresses are those of the file, as linked; whoever knows where it was loaded adds the difference. A File may be used by
// several goroutines. What it is given is not trusted: a damaged file gives errors, warnings and missing descriptions, never a
// panic, an endless loop or memory beyond a small multiple of the file.
package debuginfo
