package survey

import (
	"slices"

	"tracewell/arch"
	"tracewell/symbol/ctype"
	"tracewell/trace"
	"tracewell/view"
)

// Value computes a value of a frame, false if the frame does not have what it takes.
type Value func(view.Frame) (Reading, bool)

// Reading is a value of a frame, and the text that it leads to if it is a pointer to one that the frame has.
type Reading struct {
	ctype.Number
	Text   string
	IsText bool
}

// Summary is the figures of frames, for each tracepoint.
type Summary struct {
	values    []Value
	timestamp trace.VariableNumber // of $trace_timestamp
	timed     bool                 // there is that variable
	figures   map[trace.Number]*Figures
}

// Figures are what there is to say of the frames of one tracepoint.
type Figures struct {
	Tracepoint  trace.Number
	Frames      int
	Steps       int   // of the frames, those of while-stepping
	Bytes       int64 // of the frames with their headers
	First, Last int   // numbers of frames; the least and the greatest

	PCs     int // different ones, MostPCs at most; 0 if no pc is known
	Low     arch.Addr
	High    arch.Addr
	seenPCs map[arch.Addr]bool

	Timed      int   // frames with a $trace_timestamp
	Start, End int64 // the least and the greatest of these, in microseconds

	Values []Measured // of the expressions, in their order
}

// Measured is the values of an expression, and the texts that they lead to.
type Measured struct {
	Distribution
	Texts   Texts
	Lacking int // frames that do not have what it takes
}

// MostPCs is how many different program counters are counted.
const MostPCs = 1000

// NewSummary returns a Summary of no frames. It also measures the values.
func NewSummary(variables []trace.Variable, values ...Value) *Summary {
	s := &Summary{values: values, figures: make(map[trace.Number]*Figures)}
	// The built-in variable of gdbserver has number 1, but another stub may number it otherwise: its name decides.
	for _, v := range variables {
		if v.Name == trace.TimestampName {
			s.timestamp, s.timed = v.Number, true
		}
	}
	return s
}

// Add takes a frame.
func (s *Summary) Add(f view.Frame, stepped bool) {
	t := s.figures[f.Tracepoint()]
	if t == nil {
		t = &Figures{
			Tracepoint: f.Tracepoint(), First: f.Number, Last: f.Number,
			seenPCs: make(map[arch.Addr]bool), Values: make([]Measured, len(s.values)),
		}
		s.figures[f.Tracepoint()] = t
	}
	t.Frames++
	t.First, t.Last = min(t.First, f.Number), max(t.Last, f.Number)
	t.Bytes += int64(len(f.Bytes()))
	if stepped {
		t.Steps++
	}
	t.addPC(f)
	s.addTime(t, f)
	for i, value := range s.values {
		t.Values[i].add(value(f))
	}
}

func (m *Measured) add(r Reading, ok bool) {
	if !ok {
		m.Lacking++
		return
	}
	// Pointers with a text are measured as numbers as well, as not every frame has the text.
	m.Add(r.Number)
	if r.IsText {
		m.Texts.Add(r.Text)
	}
}

func (t *Figures) addPC(f view.Frame) {
	if !f.HasPC {
		return
	}
	if t.PCs == 0 {
		t.Low, t.High = f.PC, f.PC
	}
	t.Low, t.High = min(t.Low, f.PC), max(t.High, f.PC)
	// A tracepoint has few, unless it steps: the bound is for a while-stepping through a program of any size.
	if t.PCs < MostPCs && !t.seenPCs[f.PC] {
		t.seenPCs[f.PC] = true
		t.PCs++
	}
}

// addTime looks for the time of a frame.
func (s *Summary) addTime(t *Figures, f view.Frame) {
	if !s.timed {
		return
	}
	at, found := f.Variable(s.timestamp)
	if !found {
		return
	}
	if t.Timed == 0 {
		t.Start, t.End = at, at
	}
	t.Start, t.End = min(t.Start, at), max(t.End, at)
	// Frames need not be in the order of time: a circular buffer, or a file merged of others.
	t.Timed++
}

// Rate returns how many frames there were a second, by their timestamps, and false if these do not tell.
func (t *Figures) Rate() (float64, bool) {
	if t.Timed < 2 || t.End == t.Start {
		return 0, false
	}
	const second = 1e6
	return float64(t.Timed-1) / (float64(t.End-t.Start) / second), true
}

// Tracepoints returns the figures of each tracepoint that has frames, by number.
func (s *Summary) Tracepoints() []*Figures {
	var all []*Figures
	for _, t := range s.figures {
		all = append(all, t)
	}
	slices.SortFunc(all, func(a, b *Figures) int { return int(a.Tracepoint - b.Tracepoint) })
	return all
}
