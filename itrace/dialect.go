package itrace

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Dialect is a way to write execution traces as lines of text.
type Dialect struct {
	Name  string // one word, such as "matcher"
	Title string // what people call it
	// Suffixes are those of the names of files that are to be in this dialect, each with its dot. What a file is in its content
	// tells.
	Suffixes []string
	// EffectsTellCPU says that lines of memory and registers tell their processor, which in other dialects is that of the
	// instruction before.
	EffectsTellCPU bool
	// New returns a parser for one trace.
	New func() Parser
	// Append appends the line of a record without a line feed. Of a record of kind Unknown
	// Text is appended: as it stands in a dialect of plain lines, and in any case so that Parse makes the same Text of it.
	Append func(dst []byte, r *Record) []byte
	// Anywhere says that a parser may begin, or go on after some lines that it was not given, at the line of any instruction: what
	// follows inherits nothing from before.
	Anywhere bool
	// FastPath, unless nil, reads lines from the beginning of a text, as many as there are briefs, and keeps no more of each. It stops
	// at a line that Parse has to look at: one that is not like those before, is not of the same processor, or may be cut off.
	// It returns how many lines it has read, and where in the text the next begins. There are 16 bytes behind the text that it may
	// look at.
	FastPath func(p Parser, text []byte, briefs []Brief) (lines, next int)
}

// Brief is a line as FastPath reads it: the line is known to be well-formed, and this is what it changes.
type Brief struct {
	Kind  Kind
	At    int    // where it begins in the text
	Name  uint64 // of a register, its bytes, the first lowest; there are at most 8
	Addr  uint64 // Memory: of the first byte
	Size  uint32 // Memory: bytes accessed
	Value uint64 // Register: what was written
}

// Parser reads the lines of one trace in their order; it remembers what lines inherit from earlier ones.
type Parser interface {
	// Parse sets Kind and all fields of r that mean something for it, but for Line, Offset, Text and Problem, which are set. The
	// others hold whatever they held. It does not allocate unless the line is wrong.
	//
	// A line may tell of several things: Parse sets More, and is called again with the same line for the next of them.
	Parse(line []byte, r *Record) *SyntaxError
}

// Registry is the dialects that a program knows.
type Registry []*Dialect

// ByName returns the dialect of a name; the error lists those that there are.
func (r Registry) ByName(name string) (*Dialect, error) {
	for _, d := range r {
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

// DetectBytes is how much of a trace Detect looks at, at most.
const DetectBytes = 1 << 16

// Detect returns the dialect that most lines of the beginning of a trace are in, and how many of how many lines these are, blank
// ones not counted. It is nil if no line is in any: then Undetected says what there is. Of what is as long as DetectBytes, or
// has several lines, the last line counts only if it is whole.
func (r Registry) Detect(head []byte) (best *Dialect, known, lines int) {
	cut := len(head) >= DetectBytes
	head = head[:min(len(head), DetectBytes)]
	if end := bytes.LastIndexByte(head, '\n'); end >= 0 {
		head = head[:end+1]
	} else if cut {
		head = nil
	}
	head = bytes.TrimPrefix(head, byteOrderMark)
	for _, d := range r {
		parser, understood, all := d.New(), 0, 0
		var record Record
		for line := range bytes.Lines(head) {
			if line = trimEnd(line); len(line) == 0 {
				continue
			}
			all++
			if readable(parser, line, &record) {
				understood++
			}
		}
		if lines = all; understood > known {
			best, known = d, understood
		}
	}
	return best, known, lines
}

// readable reports whether a parser can read a line, all of it.
func readable(p Parser, line []byte, r *Record) bool {
	for {
		r.More = false
		if p.Parse(line, r) != nil {
			return false
		}
		if !r.More {
			return true
		}
	}
}

// Sniff is Detect for what a reader, whose buffer holds DetectBytes or more, is about to give. It looks at what there is at first, and
// waits for more only as long as that has no line in any dialect, so that a trace can be followed as it is written. It returns
// the beginning that it has looked at, which is still to be read, and the error of reading unless that is io.EOF.
func (r Registry) Sniff(in *bufio.Reader) (d *Dialect, head []byte, err error) {
	for wanted := 1; ; wanted = 2 * len(head) {
		_, err = in.Peek(min(wanted, DetectBytes))
		head, _ = in.Peek(min(in.Buffered(), DetectBytes))
		if d, _, _ = r.Detect(head); d != nil {
			return d, head, nil
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil, head, nil
		case err != nil:
			return nil, head, err
		case len(head) == DetectBytes:
			return nil, head, nil
		}
	}
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
