package check

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"tracewell/internal/text"
	"tracewell/tfile"
	"tracewell/trace"
)

// reading gathers what can be read of the definition lines, less strictly than tfile.Open does.
// A line that tfile.Open refuses may still have items that GDB reads, and these would be lost with the line.
type reading struct {
	x         *fixer
	status    *trace.Status
	variables []trace.Variable
	places    map[trace.VariableNumber]int // in variables
	upload    trace.Upload
	offsets   map[trace.Key]int64 // of the first piece
}

// mendings read the rest of a line, and report whether anything of it could be read.
// Lines with other keywords are left out: GDB 13.1 warns of them at each start.
var mendings = map[string]func(r *reading, offset int64, rest string) bool{
	"R":      func(*reading, int64, string) bool { return true }, // see fixer.chooseBlockSize
	"tdesc":  func(*reading, int64, string) bool { return true }, // see fixer.fixDescription
	"status": (*reading).readStatus,
	"tsv":    (*reading).readVariable,
	"tp":     (*reading).readPiece,
}

// fixHeader makes definitions that GDB takes of those that there are, for a number of frames.
func (x *fixer) fixHeader(frames int64) tfile.Header {
	r := &reading{x: x, offsets: make(map[trace.Key]int64), places: make(map[trace.VariableNumber]int)}
	for _, d := range x.file.Definitions() {
		keyword, rest, _ := strings.Cut(strings.TrimSuffix(d.Text, "\r"), " ")
		if mend := mendings[keyword]; mend == nil || !mend(r, d.Offset, rest) {
			x.tell(d.Offset, "line left out: %s", text.Quote(d.Text))
		}
	}
	return tfile.Header{
		Order:        x.header.Order,
		RegisterSize: x.size,
		Description:  x.fixDescription(),
		Status:       x.fixStatus(r.status, frames),
		Variables:    x.fixVariables(r.variables),
		Tracepoints:  x.fixTracepoints(r),
	}
}

// readStatus reads a status item by item, so that one that is malformed costs no other.
func (r *reading) readStatus(offset int64, rest string) bool {
	rest, reply := strings.CutPrefix(rest, "T")
	if reply {
		r.x.tell(offset, "the T of a reply to qTStatus left out of the status")
	}
	if st, err := trace.ParseStatus(rest); err == nil {
		r.status = &st
		return true
	}
	run, items, _ := strings.Cut(rest, ";")
	// GDB takes anything that is not 1 for stopped.
	if run != "1" {
		run = "0"
	}
	// Items do not depend on one another, so that each is tried by itself.
	whole := []string{run}
	for item := range strings.SplitSeq(items, ";") {
		if _, err := trace.ParseStatus(run + ";" + item); err != nil {
			r.x.tell(offset, "item of the status left out: %s", text.Quote(item))
			continue
		}
		whole = append(whole, item)
	}
	st, err := trace.ParseStatus(strings.Join(whole, ";"))
	r.status = &st
	return err == nil
}

func (r *reading) readVariable(offset int64, rest string) bool {
	v, err := trace.ParseVariable(rest)
	if err != nil {
		return false
	}
	if i, known := r.places[v.Number]; known {
		r.x.tell(offset, "variable %d is $%s, and no more $%s", v.Number, v.Name, r.variables[i].Name)
		r.variables[i] = v
		return true
	}
	r.places[v.Number] = len(r.variables)
	r.variables = append(r.variables, v)
	return true
}

func (r *reading) readPiece(offset int64, rest string) bool {
	p, err := trace.ParsePiece(rest)
	if err != nil {
		if p, err = mendPiece(rest); err != nil {
			return false
		}
		r.x.tell(offset, "line %s read as %q", text.Quote("tp "+rest), "tp "+pieceText(p))
	}
	if _, known := r.offsets[p.Key]; !known {
		r.offsets[p.Key] = offset
	}
	return r.upload.Add(p) == nil
}

// mendPiece reads as much of a malformed piece as GDB 13.1 would: of a T piece up to the option that is not known, and of a Z
// piece all of the text, whatever its length is said to be.
func mendPiece(rest string) (trace.Piece, error) {
	switch {
	case len(rest) > 2*tfile.MaxLine:
	case strings.HasPrefix(rest, "Z"):
		if fields := strings.Split(rest, ":"); len(fields) == 6 {
			// Fields of a Z piece: number, address, type, start, length, text in pairs of digits. GDB 13.1 looks at
			// neither of the two numbers.
			fields[3], fields[4] = "0", strconv.FormatInt(int64(len(fields[5])/2), 16)
			return trace.ParsePiece(strings.Join(fields, ":"))
		}
	case strings.HasPrefix(rest, "T"):
		for cut := strings.LastIndexByte(rest, ':'); cut > 0; cut = strings.LastIndexByte(rest, ':') {
			rest = rest[:cut]
			if p, err := trace.ParsePiece(rest); err == nil {
				return p, nil
			}
		}
	}
	return trace.ParsePiece(rest)
}

// pieceText is a T or Z piece as it is written.
func pieceText(p trace.Piece) string {
	if p.Kind == trace.PieceSource {
		return "Z" + p.Source.String()
	}
	return p.Definition.Pieces()[0]
}

// fixStatus makes the status tell the frames that are there.
func (x *fixer) fixStatus(st *trace.Status, frames int64) *trace.Status {
	if st == nil {
		x.tell(x.file.DefinitionsEnd(), "status line added, with %s", text.Plural(frames, "frame"))
		return &trace.Status{Reason: trace.ReasonUnknown, Frames: frames, Created: frames, Free: -1, Size: -1}
	}
	fixed, at := *st, x.place("status")
	if fixed.Frames != frames {
		x.tell(at, "the status tells of %s, not of %d", text.Plural(frames, "frame"), fixed.Frames)
		fixed.Frames = frames
	}
	// What is there has been created, while a circular buffer may have dropped more.
	if fixed.Created < frames {
		x.tell(at, "the status tells of %s ever created, not of %d", text.Plural(frames, "frame"), fixed.Created)
		fixed.Created = frames
	}
	if withoutText.MatchString(x.statusText()) {
		x.tell(at, "the reason why the run has stopped has a text, which is empty")
	}
	// Texts are dropped one by one, the notes first, until the line is short enough: nothing but these has no bound.
	for _, part := range []*string{&fixed.Notes, &fixed.Description, &fixed.User} {
		if len("status ")+len(fixed.String()) > tfile.MaxLine && *part != "" {
			x.tell(at, "left out of the status, which is too long a line: %s", text.Quote(*part))
			*part = ""
		}
	}
	return &fixed
}

// statusText is the status line that counts.
func (x *fixer) statusText() string {
	for _, d := range x.file.Definitions() {
		if at, told := x.last["status"]; told && d.Offset == at {
			return d.Text
		}
	}
	return ""
}

// longestName is a name of a variable that fits in a line, in bytes.
const longestName = 400

// fixVariables gives each variable a name of its own, and a definition to those that only frames have.
func (x *fixer) fixVariables(variables []trace.Variable) []trace.Variable {
	for _, n := range slices.Sorted(maps.Keys(x.nameless)) {
		x.tell(x.nameless[n].Offset, "variable %d, of which there are values, is defined as $%s", n, plainName(n))
		variables = append(variables, trace.Variable{Number: trace.VariableNumber(n), Name: plainName(n)})
	}
	// The first definition of a name keeps it, so that what reads the file by names finds the same variable as before.
	taken := make(map[string]bool)
	for i := range variables {
		v := &variables[i]
		if !word(v.Name) || taken[v.Name] || len(v.Name) > longestName {
			name := plainName(int32(v.Number))
			x.tell(x.place("tsv"), "variable %d is named $%s, not $%s", v.Number, name, v.Name)
			v.Name = name
		}
		taken[v.Name] = true
	}
	return variables
}

// plainName is the name that GDB gives a variable without one.
func plainName(n int32) string { return fmt.Sprintf("__tsv_%d", n) }
