package itrace

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Dialect is a way to write execution traces, as text or as binary data.
type Dialect struct {
	Name  string // one word, such as "matcher"
	Title string // what people call it
	// Suffixes are those of the names of files that are to be in this dialect, each with its dot. What a file is in its content
	// tells. Without one only --to names the dialect.
	Suffixes []string
	// EffectsTellCPU says that lines of memory and registers tell their processor, which in other dialects is that of the
	// instruction before.
	EffectsTellCPU bool
	// Options are what users may have to say of a trace that it does not tell itself.
	Options []Option
	// New returns a decoder for one trace.
	New func(Settings) Decoder
	// Binary is how a dialect of binary data, which has no lines, is told from others; nil for one of text.
	Binary *Binary
	// BehindTime returns how many bytes at the beginning of a text are the time of its first line, by clocks and by cycles. Two lines
	// that are the same behind that differ in Record.Time and Record.Cycle alone, and those behind them not at all, unless they have
	// no time of their own. It returns 0 for a line without a time, or for which this does not hold. nil for a dialect whose lines do
	// not begin with times.
	BehindTime func(text []byte) int
	// Why says, of the beginning of a trace that is in this dialect, what of it shows that, and which variant it is, in words:
	// "commit lines with harts, as Spike writes them since 2020". nil for a dialect that is told by its lines alone.
	Why func(head []byte) string
	// Header is what stands in front of the first record of a trace that is written, in whole lines; empty for most.
	Header string
	// Append appends the text of some records in whole lines, each with a line feed; nil if the dialect is read only. What the
	// dialect cannot tell of them is left out (see Writes). Of a record of kind Unknown Text is appended: as it stands in a dialect
	// of plain lines, and in any case so that reading makes the same Text of it.
	Append func(dst []byte, records []Record) []byte
	// NewWriter returns what writes one trace, in place of Append, where what is written of a record depends on other records.
	NewWriter func() Writer
	// Groups says that Append has to be given an instruction with all its effects at once.
	Groups bool
	// Leads says, with Groups, that an instruction is the last of what Append is given at once, behind the effects of the one
	// before it.
	Leads bool
	// Writes reports whether Append can tell a record; nil if it can tell all.
	Writes func(r *Record) bool
	// Defers is how many instructions later, at most, effects come that say so by Record.Back.
	Defers int

	settings Settings
}

// Binary is what a dialect of binary data has besides. Its traces consist of packets, of one length or of several, and what is said
// here of lines is true of them: records have the numbers of packets, counted from 1, and the offsets at which these begin.
type Binary struct {
	// Is reports whether the beginning of a trace is in the dialect. The head may be short, of a trace that is being written.
	Is func(head []byte) bool
	// Quoted is the dialect of text that Text of the records is in. By it a packet is understood that has been quoted.
	Quoted *Dialect
}

// Writer writes one trace.
type Writer interface {
	// Append appends what is known of some records, as Dialect.Append does. It may keep the rest until it is called again.
	Append(dst []byte, records []Record) []byte
	// Finish appends what is left at the end of the trace.
	Finish(dst []byte) []byte
}

// Written reports whether the dialect can be written.
func (d *Dialect) Written() bool { return d.Append != nil || d.NewWriter != nil }

// Writer returns what writes one trace in the dialect, which must be Written.
func (d *Dialect) Writer() Writer {
	if d.NewWriter != nil {
		return d.NewWriter()
	}
	return appendWriter(d.Append)
}

// appendWriter is the Writer of a dialect that has Append.
type appendWriter func(dst []byte, records []Record) []byte

// Append implements Writer.
func (w appendWriter) Append(dst []byte, records []Record) []byte { return w(dst, records) }

// Finish implements Writer.
func (w appendWriter) Finish(dst []byte) []byte { return dst }

// Option is something that a trace of a dialect may not tell.
type Option struct {
	Name   string                   // one word
	Help   string                   // what it says, as a sentence
	Values []string                 // that it may have; nil for any
	Check  func(value string) error // says why a value is none, as of a file that cannot be read; nil for any
}

// Settings are the options that a user has set, by their names.
type Settings map[string]string

// Decoder returns a decoder for one trace, with the settings of the dialect.
func (d *Dialect) Decoder() Decoder { return d.New(d.settings) }

// String is the name of the dialect with its settings, by which Registry.ByName finds it again: tarmac:state=T.
func (d *Dialect) String() string {
	text, separator := d.Name, ":"
	for _, name := range slices.Sorted(maps.Keys(d.settings)) {
		text += separator + name + "=" + d.settings[name]
		separator = ","
	}
	return text
}

// Same reports whether two are one dialect with the same settings.
func (d *Dialect) Same(o *Dialect) bool { return d == o || d.String() == o.String() }

// with returns the dialect with settings as users write them: name=value, separated by commas.
func (d *Dialect) with(text string) (*Dialect, error) {
	c := *d
	c.settings = make(Settings)
	for word := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(word, "=")
		i := slices.IndexFunc(d.Options, func(o Option) bool { return o.Name == name })
		switch {
		case len(d.Options) == 0:
			return nil, fmt.Errorf("dialect %s has no options", d.Name)
		case i < 0:
			return nil, fmt.Errorf("dialect %s has no option %q: there are %s", d.Name, name, optionNames(d.Options))
		case d.Options[i].Values != nil && !slices.Contains(d.Options[i].Values, value):
			return nil, fmt.Errorf("%s:%s is one of %s, not %q", d.Name, name, strings.Join(d.Options[i].Values, ", "), value)
		case d.Options[i].Check != nil:
			if err := d.Options[i].Check(value); err != nil {
				return nil, fmt.Errorf("%s:%s: %w", d.Name, name, err)
			}
		}
		c.settings[name] = value
	}
	return &c, nil
}

func optionNames(options []Option) string {
	var names []string
	for _, o := range options {
		names = append(names, o.Name)
	}
	return strings.Join(names, ", ")
}

// EachRecord returns the Append of a dialect in which each record is a line of its own, which appendOne appends without its end.
// Of a record that it appends nothing for there is no line.
func EachRecord(appendOne func(dst []byte, r *Record) []byte) func(dst []byte, records []Record) []byte {
	return func(dst []byte, records []Record) []byte {
		for i := range records {
			before := len(dst)
			if dst = appendOne(dst, &records[i]); len(dst) > before {
				dst = append(dst, '\n')
			}
		}
		return dst
	}
}

// Registry is the dialects that a program knows.
type Registry []*Dialect

// ByName returns the dialect of a name, behind which settings may stand as in tarmac:state=T; the error lists those that there are.
func (r Registry) ByName(text string) (*Dialect, error) {
	name, settings, set := strings.Cut(text, ":")
	for _, d := range r {
		if d.Name == name && set {
			return d.with(settings)
		}
		if d.Name == name {
			return d, nil
		}
	}
	return nil, fmt.Errorf("no dialect %q of execution traces: there are %s", name, r.names())
}

func (r Registry) names() string {
	var names []string
	for _, d := range r {
		names = append(names, d.Name)
	}
	return strings.Join(names, ", ")
}

// byteOrderMark is what some programs of Windows write in front of UTF-8.
var byteOrderMark = []byte("\xef\xbb\xbf")

// trimEnd cuts the end of a line off: LF, CR LF, and blanks before.
func trimEnd(line []byte) []byte {
	for len(line) > 0 && line[len(line)-1] <= ' ' {
		line = line[:len(line)-1]
	}
	return line
}
