package dialects_test

import (
	"bytes"
	"fmt"
	"log"
	"strings"

	"tracewell/itrace"
	"tracewell/itrace/dialects"
)

// plain is a dialect of its own: an address for each instruction, and name=value for each register.
//
//	80001000
//	r8=1f
var plain = &itrace.Dialect{
	Name: "plain", Title: "plain addresses", Suffixes: []string{".plain"},
	New:    func(itrace.Settings) itrace.Decoder { return itrace.Lines(plainParser{}) },
	Append: itrace.EachRecord(appendPlain),
}

// plainParser has nothing to remember: its lines inherit nothing from earlier ones.
type plainParser struct{ itrace.Stateless }

// Parse implements itrace.Parser. It sets all that means something for the kind, for r has been used before.
func (plainParser) Parse(line []byte, r *itrace.Record) *itrace.SyntaxError {
	r.Time, r.Scale, r.CPU = 0, nil, 0
	if name, digits, ok := bytes.Cut(line, []byte{'='}); ok {
		r.Kind, r.Name, r.Digits = itrace.Register, name, digits
		if r.Value, r.Wild, ok = itrace.ParseDigits(digits); !ok {
			return itrace.Mismatch(line, len(name)+1, "a value in hexadecimal")
		}
		return nil
	}
	addr, ok := itrace.ParseHex(line)
	if !ok {
		return itrace.Mismatch(line, 0, "an address in hexadecimal")
	}
	*r = itrace.Record{Kind: itrace.Instruction, Line: r.Line, Offset: r.Offset, Text: r.Text, Addr: addr, AddrDigits: line}
	return nil
}

func appendPlain(dst []byte, r *itrace.Record) []byte {
	switch r.Kind {
	case itrace.Instruction:
		return append(dst, r.AddrDigits...)
	case itrace.Register:
		return append(append(append(dst, r.Name...), '='), r.Digits...)
	}
	return append(dst, r.Text...)
}

// A dialect is a parser and its inverse; it is found out by content beside the others.
func Example() {
	const trace = "80001000\nr8=1f\nwhat is this?\n80001004\nr9=xx\n"
	found := append(dialects.All, plain).Detect([]byte(trace))
	d := found.Dialect
	fmt.Printf("%s: %s\n", d.Title, found.Why)

	for r, err := range itrace.NewReader(strings.NewReader(trace), d).All() {
		switch {
		case err != nil:
			log.Fatal(err)
		case r.Kind == itrace.Unknown:
			fmt.Printf("line %d: %v\n", r.Line, r.Problem)
		default:
			fmt.Printf("%v: %s", r.Kind, d.Append(nil, []itrace.Record{*r}))
		}
	}
	// Output:
	// plain addresses: 4 of 5 lines can be read
	// instruction: 80001000
	// register: r8=1f
	// line 3: column 1: found "what", expected an address in hexadecimal
	// instruction: 80001004
	// register: r9=xx
}
