package tfile

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"tracewell/arch"
	"tracewell/internal/text"
	"tracewell/trace"
)

// Magic is the line that begins every trace file. The 0 is the version, the only one there is.
const Magic = "\x7fTRACE0\n"

// MaxLine is how many bytes of a definition line GDB 13.1 reads. It refuses a file with a longer one, though it writes them.
const MaxLine = 999

// Header is what a trace file says ahead of its frames, and the byte order of the frames.
type Header struct {
	Order        arch.ByteOrder // of the frames; no line states it
	RegisterSize int            // bytes in an R block: the length of the g packet. 0 when not told
	Status       *trace.Status  // nil when not told; GDB 13.1 then warns that there are no frames
	Variables    []trace.Variable
	// Tracepoints are in the order of the file. GDB 13.1 sets them up, and numbers them anew, from the last to the first, so
	// that it keeps the order of numbers only if they descend.
	Tracepoints []trace.Tracepoint
	// Description is the target description, its tdesc lines joined by LF; "" for none.
	Description string
	// Other holds the lines whose keyword is not known, without LF.
	Other []string
}

// Definition is one definition line as it stands in the file.
type Definition struct {
	Offset int64  // of the line in the file
	Text   string // without the LF
}

// headerReader gathers definition lines into a Header.
type headerReader struct {
	header      Header
	definitions []Definition
	findings    []Finding

	upload      trace.Upload
	variables   trace.Variables
	mentions    map[trace.Key]int64 // offset of the first piece of each tracepoint
	description []string
	sizeLine    int64 // offset of the R line
	decimalSize int   // its number as the manual has it, 0 if it has other digits
	unsaid      int   // findings beyond maxFindings
}

// maxFindings bounds the findings in the definitions, of which a file that is no trace file may have one for each line.
const maxFindings = 1000

// definitionKinds reads the rest of a line, behind the keyword and exactly one space. When a keyword comes again R and
// status replace what they said before, and so does tsv for its variable; the others add to it.
var definitionKinds = map[string]func(r *headerReader, offset int64, rest string) error{
	"R":      (*headerReader).registerSize,
	"status": (*headerReader).status,
	"tsv":    (*headerReader).variable,
	"tp":     (*headerReader).piece,
	"tdesc": func(r *headerReader, _ int64, rest string) error {
		r.description = append(r.description, rest)
		return nil
	},
}

// line takes one definition line.
func (r *headerReader) line(offset int64, text string) {
	r.definitions = append(r.definitions, Definition{offset, text})
	if len(text) > MaxLine {
		r.found(offset, RuleLongLine, "%d bytes, of which GDB 13.1 takes at most %d: %s", len(text), MaxLine, quoted(text))
	}
	keyword, rest, spaced := strings.Cut(text, " ")
	read := definitionKinds[keyword]
	if read == nil || !spaced {
		r.header.Other = append(r.header.Other, text)
		r.found(offset, RuleUnknownLine, "%s", quoted(text))
		return
	}
	if err := read(r, offset, rest); err != nil {
		r.found(offset, RuleBadLine, "%s: %v", quoted(text), err)
	}
}

func (r *headerReader) found(offset int64, rule *Rule, format string, args ...any) {
	if len(r.findings) >= maxFindings {
		r.unsaid++
		return
	}
	r.findings = append(r.findings, Finding{offset, rule, fmt.Sprintf(format, args...)})
}

// finish completes the header, once the last line was taken; end is the offset behind it.
func (r *headerReader) finish(end int64) {
	r.header.Tracepoints, r.header.Variables = r.upload.Tracepoints(), r.variables.List()
	r.header.Description = strings.Join(r.description, "\n")
	for _, k := range r.upload.Undefined() {
		r.found(r.mentions[k], RuleUndefined, "tracepoint %d at %v has no T piece, which GDB 13.1 does not survive", k.Number, k.Addr)
	}
	if r.unsaid > 0 {
		text := fmt.Sprintf("%d more lines like the %d above", r.unsaid, maxFindings)
		r.findings = append(r.findings, Finding{end, RuleBadLine, text})
	}
	if n := r.header.RegisterSize; n > MaxRegisters {
		r.findings = append(r.findings, Finding{r.sizeLine, RuleLargeRegisters, fmt.Sprintf("register blocks of %d bytes", n)})
	}
	if r.header.RegisterSize == 0 {
		const text = "no R line with the size of a register block, without which GDB does not open the file"
		r.findings = append(r.findings, Finding{end, RuleRegisterSize, text})
	}
}

// registerSize reads the number of an R line. It is hexadecimal, though the manual says decimal, and GDB reads it with
// strtol, so blanks and 0x may stand before it and anything behind it, such as a CR.
func (r *headerReader) registerSize(offset int64, rest string) error {
	digits := strings.TrimLeft(rest, " \t")
	if len(digits) > 2 && strings.EqualFold(digits[:2], "0x") {
		digits = digits[2:]
	}
	behind := strings.TrimLeft(digits, "0123456789abcdefABCDEF")
	n, err := strconv.ParseUint(digits[:len(digits)-len(behind)], 16, 63)
	if err != nil {
		return fmt.Errorf("found %q, expected a size in hexadecimal", rest)
	}
	r.header.RegisterSize, r.sizeLine, r.decimalSize = int(min(n, math.MaxInt32)), offset, 0
	if d, err := strconv.ParseUint(rest, 10, 31); err == nil {
		r.decimalSize = int(d)
	}
	if behind != "" {
		return fmt.Errorf("found %s behind the size, which is taken to be 0x%x", text.Quote(behind), n)
	}
	return nil
}

// status reads a status, and also a whole reply to qTStatus, as the manual's words have it.
func (r *headerReader) status(offset int64, rest string) error {
	rest, reply := strings.CutPrefix(rest, "T")
	st, err := trace.ParseStatus(rest)
	if err != nil {
		return err
	}
	r.header.Status = &st
	if reply {
		r.found(offset, RuleStatusReply, "the status begins with the T of a reply to qTStatus")
	}
	return nil
}

func (r *headerReader) variable(_ int64, rest string) error {
	v, err := trace.ParseVariable(rest)
	if err == nil {
		r.variables.Add(v)
	}
	return err
}

// piece reads a tp line. Of a T piece that cannot be read to its end the definition counts up to the options that can be, as
// in GDB 13.1, which at most warns of the others.
func (r *headerReader) piece(offset int64, rest string) error {
	p, malformed := trace.ParsePiece(rest)
	if malformed != nil {
		var found bool
		if p, found = definitionIn(rest); !found {
			return malformed
		}
	}
	if _, known := r.mentions[p.Key]; !known {
		if r.mentions == nil {
			r.mentions = make(map[trace.Key]int64)
		}
		r.mentions[p.Key] = offset
	}
	return errors.Join(malformed, r.upload.Add(p))
}

// definitionFields are those that every T piece has; there are a few options.
const (
	definitionFields = 5
	definitionMost   = 16
)

// definitionIn reads as much of a T piece as can be read, if that defines a tracepoint.
func definitionIn(text string) (trace.Piece, bool) {
	fields := strings.SplitN(text, ":", definitionMost)
	if !strings.HasPrefix(text, string(trace.PieceDefinition)) || len(fields) < definitionFields {
		return trace.Piece{}, false
	}
	fields[definitionFields-1] = strings.TrimRight(fields[definitionFields-1], "\r")
	for n := len(fields); n >= definitionFields; n-- {
		if p, err := trace.ParsePiece(strings.Join(fields[:n], ":")); err == nil {
			return p, true
		}
	}
	return trace.Piece{}, false
}
