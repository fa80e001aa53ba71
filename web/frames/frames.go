// Package frames is the subject of a page that shows a trace file.
//
// The page never gets more than it can show: rows come in blocks, and timelines, plots and stacks are summed up here to as many
// points as there are pixels. For that a snapshot of the trace has an index of its frames in memory, 30 bytes for each
// (index.go), so that only conditions and values read frames. Their answers are kept: the frames that a filter chooses
// (selection.go), and the values of an expression in all frames (values.go).
//
// A search for frames goes on while its first rows are shown already, and ends when the page asks for other frames. A trace that is
// still being recorded is a row of snapshots (follow.go), each with the index of the one before and more.
//
// The filter language and the expressions are those of show --where and --value. Frames in full are what show --json --diff prints.
package frames

import (
	"context"
	"net/url"
	"slices"
	"strconv"
	"sync/atomic"

	"tracewell/view"
	"tracewell/view/wire"
	"tracewell/web"
	"tracewell/web/sources"
)

// Trace is a trace file as the subject of a page.
type Trace struct {
	title   string
	sources *sources.Sources
	now     atomic.Pointer[snapshot]

	debuggee func() *wire.Debuggee // what the program does; nil for a file
}

// snapshot is a trace as it was at a time, with what is known of its frames. It does not change but for what it keeps of answers.
type snapshot struct {
	view    *view.View
	damage  error // why the rest cannot be read
	sources *sources.Sources
	index   *index

	debuggee *wire.Debuggee // nil for a file

	selections selections
	values     valueCache
	stacks     stackCache
}

// New returns a page of a trace, whose frames it goes over once. Damage is why the rest of the file cannot be read, nil if all can.
// Source files are offered from files.
func New(ctx context.Context, title string, v *view.View, damage error, files *sources.Sources) (*Trace, error) {
	t := &Trace{title: title, sources: files}
	s, err := t.snapshot(ctx, v, damage, nil)
	if err != nil {
		return nil, err
	}
	t.now.Store(s)
	return t, nil
}

// snapshot goes over the frames behind those of an earlier snapshot, nil for none.
func (t *Trace) snapshot(ctx context.Context, v *view.View, damage error, earlier *index) (*snapshot, error) {
	index, err := newIndex(ctx, v, earlier)
	if err != nil {
		return nil, err
	}
	s := &snapshot{view: v, damage: damage, sources: t.sources, index: index}
	s.offerSources()
	if t.debuggee != nil {
		s.debuggee = t.debuggee()
	}
	return s, nil
}

// Kind implements web.Subject.
func (t *Trace) Kind() string { return "frames" }

// Title implements web.Subject.
func (t *Trace) Title() string { return t.title }

// answers are the questions of the page, each with what answers it.
var answers = map[string]func(*snapshot, context.Context, url.Values) (any, error){
	"trace":    (*snapshot).trace,
	"rows":     (*snapshot).rows,
	"search":   (*snapshot).search,
	"place":    (*snapshot).place,
	"frame":    (*snapshot).frame,
	"timeline": (*snapshot).timeline,
	"plot":     (*snapshot).plot,
	"source":   (*snapshot).source,
	"stacks":   (*snapshot).stackTree,
}

// Answer implements web.Subject.
func (t *Trace) Answer(ctx context.Context, question string, args url.Values) (any, error) {
	answer := answers[question]
	if answer == nil {
		return nil, web.ErrNoQuestion
	}
	return answer(t.now.Load(), ctx, args)
}

// What a page of one file carries. It cannot ask for more, so it has the first frames, and everything that is summed up over all.
const (
	staticRows   = 2000
	staticFrames = 500
	staticBins   = 960
	staticPlots  = 24
)

// Static implements web.Subject.
func (t *Trace) Static() []web.Question {
	s := t.now.Load()
	count := s.view.Content.NumFrames()
	questions := []web.Question{{Name: "trace"}, {Name: "search"}}
	ask := func(name string, args ...string) {
		values := url.Values{}
		for i := 0; i < len(args); i += 2 {
			values.Set(args[i], args[i+1])
		}
		questions = append(questions, web.Question{Name: name, Args: values})
	}
	for block := 0; block*blockRows < min(count, staticRows); block++ {
		ask("rows", "block", strconv.Itoa(block))
	}
	for i := range min(count, staticFrames) {
		ask("frame", "frame", strconv.Itoa(i))
	}
	for _, by := range []string{"thread", "tracepoint"} {
		ask("timeline", "bins", strconv.Itoa(staticBins), "by", by)
	}
	for _, file := range s.sources.Names() {
		ask("source", "file", strconv.Itoa(file.File))
	}
	numbers := s.numbers()
	for _, name := range numbers[:min(len(numbers), staticPlots)] {
		for _, kind := range plotKinds {
			ask("plot", "y", name, "kind", kind, "bins", strconv.Itoa(staticBins))
		}
	}
	if s.view.CollectsStacks() {
		ask("stacks")
	}
	return questions
}

// trace answers "trace": what there is to say of the whole.
func (s *snapshot) trace(context.Context, url.Values) (any, error) {
	object := wire.DescribeTrace(s.view, s.damage)
	object.Debuggee = s.debuggee
	object.Timed, object.First, object.Last = s.index.timed, s.index.first, s.index.last
	for i, t := range s.index.threads {
		name, _ := s.view.LastName(t.id)
		object.Threads = append(object.Threads, wire.PageThread{Thread: i, ID: t.id, Name: name, Frames: t.frames})
	}
	object.Items = slices.Concat(object.Items, s.view.ItemNames())
	object.Numbers = slices.Concat(object.Numbers, s.numbers())
	table, err := wire.NewFrameTable(s.view)
	if err != nil {
		return nil, err
	}
	object.Columns = append(object.Columns, table.Columns[table.Lead():]...)
	for _, file := range s.sources.Names() {
		object.Sources = append(object.Sources, wire.SourceLines{SourceName: file, Frames: s.index.inFile[file.File]})
	}
	return object, nil
}

// numbers returns the names of what is collected and has a number. Registers come last, as few are collected for their own sake.
func (s *snapshot) numbers() []string {
	var names, registers []string
	for _, item := range s.view.EveryItem() {
		for _, part := range s.view.Parts(item) {
			if t := part.Type(item); !t.Scalar() || t.Size > 8 {
				continue
			}
			if item.Slot != nil {
				registers = append(registers, part.Name)
			} else {
				names = append(names, part.Name)
			}
		}
	}
	var distinct []string
	for _, name := range slices.Concat(names, registers) {
		if !slices.Contains(distinct, name) {
			distinct = append(distinct, name)
		}
	}
	return distinct
}
