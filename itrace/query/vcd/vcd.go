// Package vcd writes what registers and memory held over an execution trace as a Value Change Dump, the format of IEEE 1364 that
// GTKWave and other viewers of waveforms open.
//
//	$timescale 1 ns $end
//	$scope module cpu0 $end          registers of each processor; memory is in a scope of its own
//	$var wire 32 ! sp [31:0] $end
//	$upscope $end $enddefinitions $end
//	#5 b1001010 !                    from time 5 on
//
// A value is there from the instruction on that wrote it. Digits that the trace does not know are x, as is everything before the
// trace tells it. Values come object by object and a dump is in order of time, so the trace is asked piece by piece: the changes of
// a piece are in memory.
package vcd

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"tracewell/itrace/query"
)

// Options say how a dump is written.
type Options struct {
	Time  bool  // the axis is the time of the trace, not the number of the instruction
	Piece int64 // how many instructions are asked about at once; 0 for as many as is usual
}

// piece is how many instructions are usually asked about at once.
const piece = 1 << 20

// signal is a register of a processor, or memory.
type signal struct {
	object int
	cpu    int32
	name   uint32
	scope  string
	label  string
	bits   int
	held   []byte // what was written last; nil for nothing
}

// change is a value that is to be written.
type change struct {
	at     uint64
	signal int
	order  int
	value  []byte
}

// dump is a file that is written.
type dump struct {
	*bufio.Writer
	options Options
	signals []signal
	changes []change
	text    []byte // values of changes
	now     uint64
	begun   bool
}

// Write writes the values of objects over the range of a trace, of which each is a register or memory.
func Write(ctx context.Context, t *query.Trace, objects []query.Object, o Options, out io.Writer) error {
	d := &dump{Writer: bufio.NewWriter(out), options: o}
	if o.Time && (t.LastTime == 0 || len(t.Scales) > 1) {
		return fmt.Errorf("the trace has no times, or times of several units")
	}
	if err := d.declare(ctx, t, objects); err != nil {
		return err
	}
	d.header(t)
	part := *t
	for part.From < t.To || !d.begun {
		// The first piece has what was told in front of the first instruction, too.
		part.To = min(max(part.From, 0)+cmp.Or(o.Piece, piece), t.To)
		for i, object := range objects {
			if err := d.ask(ctx, &part, i, object); err != nil {
				return err
			}
		}
		d.write(max(part.From, 0))
		part.From = max(part.To, 1)
	}
	if !o.Time {
		d.advance(uint64(t.To))
	}
	return d.Flush()
}

// declare finds the signals. A register is as wide as what it holds in the end, as the trace writes it.
func (d *dump) declare(ctx context.Context, t *query.Trace, objects []query.Object) error {
	held, err := t.RegistersAt(ctx, t.To)
	if err != nil {
		return err
	}
	cpus := t.CPUs
	if t.CPU != nil {
		cpus = []int32{*t.CPU}
	}
	for i, o := range objects {
		if !o.IsRegister() {
			d.signals = append(d.signals, signal{object: i, scope: "memory", label: reference(o.Text), bits: int(8 * o.Size)})
			continue
		}
		for _, cpu := range cpus {
			for _, name := range o.Names {
				s := signal{object: i, cpu: cpu, name: name, scope: fmt.Sprintf("cpu%d", cpu), label: reference(t.Names[name]), bits: usual}
				for _, h := range held {
					if h.CPU == cpu && h.Name == t.Names[name] && len(h.Value) > 0 {
						s.bits = 4 * len(h.Value)
					}
				}
				d.signals = append(d.signals, s)
			}
		}
	}
	slices.SortStableFunc(d.signals, func(a, b signal) int { return strings.Compare(a.scope, b.scope) })
	return nil
}

// usual is the width of a register of which nothing is told.
const usual = 64

// reference is a name as the format allows it: no blanks, and no brackets, which are a range of bits.
func reference(name string) string {
	return strings.Map(func(r rune) rune {
		if r > ' ' && r < 0x7f && !strings.ContainsRune("[]()$", r) {
			return r
		}
		return '_'
	}, name)
}

// seconds are the units of time that the format has.
var seconds = regexp.MustCompile(`^[munpf]?s$`)

func (d *dump) header(t *query.Trace) {
	scale, unit := "1 ns", "instructions"
	if d.options.Time {
		// Units that are none of time, such as cycles of a clock, have none in the format.
		if unit = "time"; len(t.Scales) == 1 {
			unit = t.Scales[0]
		}
		if lower := strings.ToLower(unit); seconds.MatchString(lower) {
			scale = "1 " + lower
		}
	}
	fmt.Fprintf(d, "$comment %s of an execution trace $end\n$timescale %s $end\n", reference(unit), scale)
	scope := ""
	for i := range d.signals {
		s := &d.signals[i]
		if s.scope != scope {
			if scope != "" {
				fmt.Fprintln(d, "$upscope $end")
			}
			fmt.Fprintf(d, "$scope module %s $end\n", s.scope)
			scope = s.scope
		}
		fmt.Fprintf(d, "$var wire %d %s %s [%d:0] $end\n", s.bits, id(i), s.label, s.bits-1)
	}
	fmt.Fprintln(d, "$upscope $end\n$enddefinitions $end")
}

// id is the short name of a signal, of printable characters.
func id(n int) string {
	const first, characters = '!', '~' - '!' + 1
	text := []byte{byte(first + n%characters)}
	for n /= characters; n > 0; n /= characters {
		text = append(text, byte(first+n%characters))
	}
	return string(text)
}

// ask keeps the values of an object in a piece of the trace.
func (d *dump) ask(ctx context.Context, t *query.Trace, object int, o query.Object) error {
	return t.Values(ctx, o, true, query.Pick{}, func(v query.Value) error {
		i := slices.IndexFunc(d.signals, func(s signal) bool {
			return s.object == object && (!o.IsRegister() || s.cpu == v.CPU && s.name == v.Name)
		})
		at := uint64(max(v.Number, 0))
		if d.options.Time {
			at = 0
			if v.Item != nil {
				at = v.Item.Time
			}
		}
		begin := len(d.text)
		d.text = append(d.text, v.Value...)
		d.changes = append(d.changes, change{at, i, len(d.changes), d.text[begin:len(d.text):len(d.text)]})
		return nil
	})
}

// write writes the changes of a piece that begins at an instruction.
func (d *dump) write(begin int64) {
	slices.SortFunc(d.changes, func(a, b change) int { return cmp.Or(cmp.Compare(a.at, b.at), a.order-b.order) })
	if !d.begun {
		d.begun = true
		if d.now = uint64(begin); d.options.Time {
			d.now = 0
			if len(d.changes) > 0 {
				d.now = d.changes[0].at
			}
		}
		fmt.Fprintf(d, "#%d\n$dumpvars\n", d.now)
		for i := range d.signals {
			d.value([]byte{'?'}, 1) // which is extended to all bits
			fmt.Fprintf(d, " %s\n", id(i))
		}
		fmt.Fprintln(d, "$end")
	}
	for i, c := range d.changes {
		s := &d.signals[c.signal]
		// Of several values at one time the last counts; what a piece begins with was there in front of it, mostly.
		if next := i + 1; next < len(d.changes) && d.changes[next].at == c.at && d.changes[next].signal == c.signal {
			continue
		}
		if s.held != nil && bytes.EqualFold(s.held, c.value) {
			continue
		}
		s.held = append(s.held[:0], c.value...)
		d.advance(c.at)
		d.value(c.value, s.bits)
		fmt.Fprintf(d, " %s\n", id(c.signal))
	}
	d.changes, d.text = d.changes[:0], d.text[:0]
}

// advance goes on to a time. Processors of a trace may disagree on it, and a dump cannot go back.
func (d *dump) advance(at uint64) {
	if at > d.now {
		d.now = at
		fmt.Fprintf(d, "#%d\n", at)
	}
}

// value writes hexadecimal digits as bits, at most so many: zeros in front need not be there.
func (d *dump) value(digits []byte, most int) {
	text := make([]byte, 1, 1+4*len(digits))
	text[0] = 'b'
	for _, c := range digits {
		n := bytes.IndexByte([]byte("0123456789abcdef"), c|0x20)
		if c >= '0' && c <= '9' {
			n = int(c - '0')
		}
		for bit := 3; bit >= 0; bit-- {
			switch {
			case n < 0:
				text = append(text, 'x')
			default:
				text = append(text, '0'+byte(n>>bit&1))
			}
		}
	}
	if more := len(text) - 1 - most; more > 0 {
		text = append(text[:1], text[1+more:]...)
	}
	d.Write(text)
}
