package figures

import (
	"cmp"
	"slices"
	"strings"

	"tracewell/cmd/tracewell/internal/cli/printing"
	"tracewell/record/plan"
	"tracewell/trace"
	"tracewell/view"
	"tracewell/view/tally"
)

// Figures are those of one run or file, which may take several views, one after the other: each time that the tracepoints of a run
// come to have more locations. They belong to one goroutine at a time.
type Figures struct {
	*wanted
	table   *tally.Table[label]
	lacking []int // hits that lack a value
	top     int
	json    bool
	printed bool // anything
}

// usualTop is how many keys are printed if nobody says it.
const usualTop = 20

// New prepares figures, of which the first top keys are printed, or the usual number for 0. An error is about an option.
func New(o *Options, top int, asJSON bool) (*Figures, error) {
	w, err := o.parse()
	if err != nil {
		return nil, err
	}
	return &Figures{
		wanted: w, table: tally.New[label](w.gather...), lacking: make([]int, len(w.values)),
		top: cmp.Or(top, usualTop), json: asJSON,
	}, nil
}

// mostText is how many bytes of a text are collected for a key, which is as much as view.Reader.Text returns.
const mostText = 200

// ofCalls are what only the return of a call has: how long it took, and what was collected when the function was entered.
const (
	took    = "$" + trace.TookName
	atEntry = "@entry"
)

// Collect has every tracepoint of a plan collect what the figures are made of. Calls whose returns are recorded are counted when
// they return, so at the entry only what figures are to have from there is collected.
func (f *Figures) Collect(p *plan.Plan) error {
	returns := slices.ContainsFunc(p.Tracepoints, func(t plan.Tracepoint) bool { return t.Returns })
	var here, entry []plan.Text
	for _, e := range slices.Concat(f.keys, f.values) {
		before, wasEntry := strings.CutSuffix(e.Value, atEntry)
		switch variable := made[e.Value]; {
		case variable != "":
			e.Value, e.Line, e.Column = variable, variable, 0
			here = append(here, e)
		case isField(e.Value): // frames have it anyway
		case strings.Contains(e.Value, took) && !returns:
			return e.Fault(0, len(e.Value), "only a call whose return is recorded has "+took+" (--return)", "")
		case wasEntry && returns:
			e.Value = before
			entry = append(entry, e)
		// What is computed from the time or from values at the entry is made when the frames are there.
		case !strings.Contains(e.Value, took) && !(returns && strings.Contains(e.Value, atEntry)):
			here = append(here, e)
		}
	}
	for i := range p.Tracepoints {
		needed := here
		if p.Tracepoints[i].Returns {
			needed = entry
		}
		if len(needed) == 0 {
			continue
		}
		// In front of the tracepoint's own actions, which may assign to variables that the keys are made of. As a string is collected
		// only what points to characters; numbers come as they are.
		collect := plan.Action{Kind: plan.Collect, Expressions: needed, String: true, Limit: mostText}
		p.Tracepoints[i].Actions = append([]plan.Action{collect}, p.Tracepoints[i].Actions...)
	}
	return nil
}

// Repeat has hits of a plan for which the figures are the same be counted where they can be: nobody wants the frame of each. It
// comes before Collect.
func (f *Figures) Repeat(p *plan.Plan) {
	var alike []plan.Text
	for _, e := range slices.Concat(f.keys, f.values) {
		switch {
		case slices.Contains(ofPlace, e.Value):
		case made[e.Value] != "" || isField(e.Value) || strings.Contains(e.Value, took) || strings.Contains(e.Value, atEntry):
			return
		default:
			alike = append(alike, e)
		}
	}
	for i := range p.Tracepoints {
		// What a tracepoint does besides is done at each hit.
		if t := &p.Tracepoints[i]; len(t.Actions) == 0 && t.Pass == 0 && t.Entry == 0 && !t.Returns {
			t.Repeats, t.Alike = true, alike
		}
	}
}

// Writer adds the frames of a view to figures.
type Writer struct {
	*Figures
	view    *view.View
	reader  *view.Reader
	printer printing.ValuePrinter
	names   []key
	exprs   []*view.Expression

	key      []byte // of the frame, with the readings
	readings []tally.Reading
}

// For returns the Writer for a view. The error is about an expression that means nothing at any tracepoint.
func (f *Figures) For(v *view.View) (*Writer, error) {
	w := &Writer{Figures: f, view: v, reader: v.NewReader(), printer: printing.NewValuePrinter(v)}
	for _, e := range f.keys {
		k, err := compileKey(v, e)
		if err != nil {
			return nil, err
		}
		w.names = append(w.names, k)
	}
	// Values are integers: what cannot be computed as one is an error here, with the reason.
	for _, e := range f.wanted.values {
		computed, err := v.Expression(e.Value)
		if err != nil {
			return nil, e.Explain(err)
		}
		w.exprs = append(w.exprs, computed)
	}
	return w, nil
}

// Add implements printing.FrameWriter.
func (w *Writer) Add(frame view.Frame) error { return w.AddTimes(frame, 1) }

// AddTimes adds a frame that came so many times.
func (w *Writer) AddTimes(frame view.Frame, times int) error {
	if w.view.Entry(frame) {
		return nil // its return is counted
	}
	// Nothing is allocated for a frame with a known key.
	w.reader.Set(frame)
	w.key = w.key[:0]
	for i := range w.names {
		w.key = w.names[i].append(w.key, w, frame)
	}
	w.readings = w.appendReadings(w.readings[:0])
	w.table.Add(w.key, times, w.readings, func() label {
		parts := make(label, len(w.names))
		for i := range w.names {
			parts[i] = w.names[i].part(w, frame)
		}
		return parts
	})
	return nil
}
