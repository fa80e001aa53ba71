// Package randprog makes random programs in C, C++ and Rust whose variables hold known values: structures, unions, bit-fields,
// enumerations and arrays with members around every offset at which a number of debugging information needs another byte, and
// constants that the compiler optimises. A program is made of a seed and is the same for the same seed.
//
// The values are what the program stores, so that they can be held against what a debugger reads without another
// debugger. Only tests import this package.
package randprog

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Language is what a program is written in.
type Language string

// The languages.
const (
	C    Language = "c"
	CPP  Language = "c++"
	Rust Language = "rust"
)

// Program is a source with what its variables hold.
type Program struct {
	Language Language
	Source   string
	Marks    []Mark // in the order in which the program comes to them
	// Enumerations are the members of an enumeration type by name, and how many bits each has. Such a member of a union may hold a
	// number that is no enumerator.
	Enumerations map[string]int
}

// File is the name of the source.
func (p *Program) File() string {
	return "program" + map[Language]string{C: ".c", CPP: ".cc", Rust: ".rs"}[p.Language]
}

// Mark is a line that the program passes once, and what is in sight there.
type Mark struct {
	Line    int
	Members []Member
}

// Member is a variable or a part of one.
type Member struct {
	Path string // an expression in the syntax of GDB for the language
	// Want is what GDB's print says of the value, without types, scopes and the character beside a number; "" if it depends on
	// more than the value.
	Want string
	// Test is a condition of C that is true if the member has its value; "" where agent expressions cannot compute with it.
	Test string
}

// New makes a program for a build, with about so many members.
func New(seed uint64, b Build, members int) *Program {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, uint64(len(b.Language)))), language: b.Language,
		short: strings.Contains(b.Flags, "-fshort-enums"), enough: members, enumerations: map[string]int{}}
	switch b.Language {
	case Rust:
		g.rust()
	default:
		g.clike()
	}
	return &Program{b.Language, g.text.String(), g.marks, g.enumerations}
}

// generator writes a program.
type generator struct {
	*rand.Rand
	language Language
	short    bool // enumerations are as small as they can be
	enough   int
	text     strings.Builder
	line     int // that were written
	names    int
	enums    []*typ
	records  []*typ
	unions   []*typ
	variants []*typ
	marks    []Mark
	members  int

	enumerations map[string]int
}

// print writes whole lines.
func (g *generator) print(format string, arguments ...any) {
	text := fmt.Sprintf(format, arguments...)
	g.line += strings.Count(text, "\n")
	g.text.WriteString(text)
}

// fresh is a name that nothing else has.
func (g *generator) fresh(prefix string) string {
	g.names++
	return fmt.Sprint(prefix, g.names)
}

// chance is true once in n times.
func (g *generator) chance(n int) bool { return g.IntN(n) == 0 }

func pick[T any](g *generator, list []T) T { return list[g.IntN(len(list))] }

// enumerated notes a member of an enumeration type, a bit-field if bits is not below 0.
func (g *generator) enumerated(name string, t *typ, bits int) {
	if bits < 0 {
		bits = t.bits
	}
	if t.kind == enumeration && name != "" {
		g.enumerations[name] = bits
	}
}

// mark makes a line a mark, the next one that the program comes to.
func (g *generator) mark(line int, members []Member) {
	g.marks = append(g.marks, Mark{line, members})
	g.members += len(members)
}
