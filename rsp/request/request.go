// Package request is the grammar of the packets that a client of GDB's remote protocol sends: one table of forms, each of which
// reads a packet's arguments into a value and writes such a value as a packet. A stub reads by it, a client writes by it, so
// that no packet is spelled in two places.
//
// A form has a prefix, which names the packet, and arguments behind it. Reading is strict: what does not fit is an
// *rsp.SyntaxError with its offset in the arguments. Writing gives the form that GDB writes; where a packet may be written in
// several ways, reading takes all of them.
//
// All bytes here are plain, see package rsp: a reader undoes the escapes of a form that is Binary before it parses, and a
// client's connection escapes whatever it sends. Nothing here reads, writes or waits.
package request

import (
	"strings"

	"tracewell/rsp"
)

// Grammar is what all forms have.
type Grammar struct {
	// Prefix is everything that names the packet, with the separator that follows. Arguments are what comes behind it.
	Prefix string
	// Syntax describes the arguments for a reader: CAPITALS are fields, brackets are optional parts, a bar is a choice. It is
	// empty for a packet that takes none.
	Syntax string
	// Binary says that the arguments hold bytes as they are, so that escapes in them have to be undone before they are parsed.
	Binary bool
}

// Name is the prefix without what separates it from the arguments.
func (g *Grammar) Name() string { return strings.TrimRight(g.Prefix, ":;,") }

// Takes reports whether arguments may follow the prefix: not where there are none, and only behind the separator where the
// syntax begins with an optional one, as in "[:PID]".
func (g *Grammar) Takes(args []byte) bool {
	if len(args) == 0 || g.Syntax == "" {
		return len(args) == 0
	}
	optional := len(g.Syntax) > 1 && g.Syntax[0] == '[' && strings.IndexByte(":;,", g.Syntax[1]) >= 0
	return !optional || args[0] == g.Syntax[1]
}

// Form is the grammar of one packet, whose arguments are an A.
type Form[A any] struct {
	Grammar
	fields func(f *rsp.Fields, a *A)
}

// Parse reads the arguments of a packet, without its prefix. With an error it returns the fields that it read before, for a
// reader that has something to say about these first.
func (f *Form[A]) Parse(args string) (a A, err error) {
	in := rsp.ReadFields(args)
	f.fields(in, &a)
	return a, in.End()
}

// Append appends the packet.
func (f *Form[A]) Append(dst []byte, a A) []byte {
	out := rsp.WriteFields(append(dst, f.Prefix...))
	f.fields(out, &a)
	return out.Written()
}

// Text returns the packet.
func (f *Form[A]) Text(a A) string { return string(f.Append(nil, a)) }

// Describe returns the grammar, and Rewrite parses arguments and writes them again as a packet.
func (f *Form[A]) Describe() *Grammar { return &f.Grammar }

func (f *Form[A]) Rewrite(args string) (string, error) {
	a, err := f.Parse(args)
	if err != nil {
		return "", err
	}
	return f.Text(a), nil
}

// AnyForm is a form whatever its arguments are.
type AnyForm interface {
	Describe() *Grammar
	Rewrite(args string) (packet string, err error)
}

// Find finds the form of a packet and the packet's arguments: among the forms whose prefix fits, the longest. Without one it
// returns nil.
func Find(packet []byte) (AnyForm, []byte) {
	// A packet such as QTDP:-1 has a shorter prefix that fits, too.
	for n := min(len(packet), longestPrefix); n > 0; n-- {
		if f, ok := byPrefix[string(packet[:n])]; ok && f.Describe().Takes(packet[n:]) {
			return f, packet[n:]
		}
	}
	return nil, nil
}

// byPrefix indexes All.
var byPrefix, longestPrefix = func() (map[string]AnyForm, int) {
	index, longest := make(map[string]AnyForm), 0
	for _, f := range All {
		prefix := f.Describe().Prefix
		index[prefix] = f
		longest = max(longest, len(prefix))
	}
	return index, longest
}()

// None is the arguments of a packet that has none.
type None struct{}

// bare is a packet without arguments.
func bare(prefix string) *Form[None] {
	return &Form[None]{Grammar{Prefix: prefix}, func(*rsp.Fields, *None) {}}
}

// form is a packet with text arguments.
func form[A any](prefix, syntax string, fields func(*rsp.Fields, *A)) *Form[A] {
	return &Form[A]{Grammar{Prefix: prefix, Syntax: syntax}, fields}
}

// binary is a packet whose arguments end in binary bytes.
func binary[A any](prefix, syntax string, fields func(*rsp.Fields, *A)) *Form[A] {
	return &Form[A]{Grammar{Prefix: prefix, Syntax: syntax, Binary: true}, fields}
}

// The shapes that several packets share.

// flag is a packet that switches something on or off.
func flag(prefix string) *Form[bool] { return form(prefix, "0|1", (*rsp.Fields).Flag) }

// hexText is a packet whose argument is text, or nothing, as pairs of digits.
func hexText(prefix, syntax string) *Form[string] { return form(prefix, syntax, rsp.HexRest[string]) }

// process is a packet about one process. No kernel's process number is greater.
func process(prefix string) *Form[int] { return form(prefix, "PID", pid) }

const maxPID = 1<<31 - 1

func pid(f *rsp.Fields, v *int) { rsp.Hex(f, v, maxPID) }

// MaybeProcess is a process, or the one of the selected thread if none is Given.
type MaybeProcess struct {
	PID   int
	Given bool
}

// maybeProcess is a packet with a process behind a separator, or nothing.
func maybeProcess(prefix, separator string) *Form[MaybeProcess] {
	return form(prefix, "["+separator+"PID]", func(f *rsp.Fields, p *MaybeProcess) {
		if p.Given = f.Option(separator, p.Given); p.Given {
			pid(f, &p.PID)
		}
	})
}

// MaxSignal is the highest number that a packet can have for a signal. Signals are GDB's numbers.
const MaxSignal = 255

func signal(f *rsp.Fields, v *int) { rsp.Hex(f, v, MaxSignal) }

// signals is a packet with a list of signals, each of which GDB ends by a semicolon.
func signals(prefix string) *Form[[]int] {
	return form(prefix, "[SIGNAL;...]", func(f *rsp.Fields, list *[]int) { rsp.Ended(f, list, ';', signal) })
}
