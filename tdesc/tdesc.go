// Package tdesc holds target descriptions: the XML documents by which a stub tells GDB what registers its target has, what
// types they have and in which order the g packet carries them (GDB manual, Target Descriptions).
//
// A description goes through three forms. Parse makes a Target of a document, by the rules of GDB 13: what GDB would reject
// is an error here, what it would skip is a warning. A Target is a plain value; it can as well be written down in Go (see
// package tdesc/machine), compared and printed again. Layout resolves a Target: every type name is looked up, every size
// known, every register has its place in the register block, and a Slot can show the value of its register as GDB does.
//
// A document that Parse accepts comes back equal from its own XML. To keep that promise, and to keep out what no register
// can mean, Parse refuses some things that GDB takes:
//
//   - what makes GDB 13 crash: size 0, an evalue without a value, a compatible element that comes twice;
//   - a root element other than target, which GDB ignores and then has no description;
//   - negative numbers and numbers that do not fit 31 bits, which GDB truncates; but regnum -1 is Outside;
//   - a feature that redefines a predefined type after using it, because there is no order of printing to express that;
//   - names of more than 900 bytes once escaped, because GDB reads no trace file with lines of 1000 bytes;
//   - references to entities that are not declared, which GDB leaves out.
//
// It also accepts what GDB may not: any name of an architecture, since the names a GDB knows depend on how it was built.
// Where GDB's manual and GDB disagree the caller chooses, see Options; the default is GDB. Inspect finds all that is wrong
// with a document and not only the first thing; package tdesc/check adds what needs the whole description.
//
// No document takes long: there are limits on bytes, nesting and includes (see MaxBytes), and what is beyond is an error.
//
// The package does no I/O: the documents that an xi:include names are the caller's to fetch. Byte order is not part of a
// description and comes as an argument where values are decoded.
package tdesc

import (
	"iter"

	"tracewell/arch"
)

// Target is a target description.
type Target struct {
	Version      string   // of the format: "1.0", or "" where the document does not say
	Architecture string   // BFD's printable name, "i386:x86-64"; "" leaves it to GDB
	OSABI        string   // "GNU/Linux"; "" leaves it to GDB
	Compatible   []string // architectures that the target also runs
	Features     []*Feature
	Unknown      *Unknown // what the format does not know, nil without
}

// Feature is a named set of registers and the types they need. The types are in an order in which each refers only to
// earlier ones or to predefined ones. Names starting in org.gnu.gdb. are GDB's and fix what registers there have to be.
type Feature struct {
	Name      string
	Types     []Type
	Registers []*Register
	Unknown   *Unknown // what the format does not know, nil without
}

// Register is one register.
type Register struct {
	Name        string
	Bits        int      // as the description declares it; the place in a register block goes by the type
	Num         arch.Reg // number in packets, or Outside; always set, also where the document leaves it to be counted
	Type        string   // type of the same feature or predefined one; or "int" or "float" to go by Bits
	Group       string   // register group, "general", "float", "vector" or any other; "" to go by the type
	SaveRestore bool     // GDB saves and restores it around calls of functions in the inferior
	Unknown     *Unknown // what the format does not know, nil without
}

// Outside is the number of registers that are not in the register block: GDB knows them by name, and cannot read them.
const Outside arch.Reg = -1

// Registers goes through all registers with their features, in document order.
func (t *Target) Registers() iter.Seq2[*Feature, *Register] {
	return func(yield func(*Feature, *Register) bool) {
		for _, f := range t.Features {
			for _, r := range f.Registers {
				if !yield(f, r) {
					return
				}
			}
		}
	}
}

// Feature returns the first feature of the name, nil if there is none.
func (t *Target) Feature(name string) *Feature {
	for _, f := range t.Features {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// Register returns the first register of the name in document order, nil if there is none.
func (t *Target) Register(name string) *Register {
	for _, r := range t.Registers() {
		if r.Name == name {
			return r
		}
	}
	return nil
}
