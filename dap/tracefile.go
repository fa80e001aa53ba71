package dap

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	protocol "github.com/google/go-dap"

	"tracewell/arch"
	"tracewell/symbol"
	"tracewell/trace"
	"tracewell/view"
)

// traceFile is a trace run that is over, at one of its frames.
type traceFile struct {
	view      *view.View
	named     *names
	sources   *sources
	session   *session
	closeFile func() error

	number int // of the frame
	moment *frameMoment
	points []framePoint
	lines  map[arch.Addr]symbol.Line
}

// framePoint is a breakpoint over frames.
type framePoint struct {
	*breakpoint
	meets     func(f view.Frame) bool
	condition *view.Condition // nil for none
}

func newTraceFile(v *view.View, s *session, closeFile func() error) (*traceFile, error) {
	t := &traceFile{view: v, named: viewNames(v), sources: s.sources, session: s, closeFile: closeFile,
		lines: make(map[arch.Addr]symbol.Line)}
	return t, t.stand(0)
}

// stand goes to a frame.
func (t *traceFile) stand(number int) error {
	f, err := t.view.Frame(number, nil)
	if err != nil {
		return fmt.Errorf("frame %d: %w", number, err)
	}
	t.number, t.moment = number, newFrameMoment(t.named, t.view, f)
	return nil
}

func (t *traceFile) reach() reach { return recordings }

func (t *traceFile) names() *names { return t.named }

func (t *traceFile) close(bool) error { return t.closeFile() }

// threads lists the thread that made the frame. The name tells where in the run it is, which clients show all the time.
func (t *traceFile) threads() []protocol.Thread {
	name := fmt.Sprintf("%s, frame %d of %d", t.moment.threadName(), t.number, t.view.Content.NumFrames())
	return []protocol.Thread{{Id: t.moment.threadOf(), Name: name}}
}

func (t *traceFile) at(int) (moment, error) { return t.moment, nil }

// place finds out for which frames breakpoints are met. A line without a tracepoint cannot be reached.
func (t *traceFile) place(all []*breakpoint) error {
	t.points = nil
	for _, b := range all {
		b.count = 0
		if b.wrong != "" {
			continue
		}
		p := framePoint{breakpoint: b}
		err := t.resolve(&p)
		if err == nil && b.condition != "" {
			p.condition, err = t.view.Condition(b.condition)
		}
		if err != nil {
			b.message = err.Error()
			continue
		}
		b.verified = true
		t.points = append(t.points, p)
	}
	return nil
}

// resolve finds what a breakpoint is at.
func (t *traceFile) resolve(p *framePoint) error {
	b, program := p.breakpoint, t.view.Symbols
	switch {
	case b.data != "":
		return errors.New("a trace file does not tell who writes: data breakpoints are for execution traces")
	case b.address != nil:
		p.meets = func(f view.Frame) bool { return f.HasPC && uint64(f.PC) == *b.address }
		return nil
	case b.function != "" && t.isSource(b.function):
		p.meets = func(f view.Frame) bool { return t.view.SourceOf(f) == b.function }
		return nil
	case program == nil:
		return errNoNames
	case b.function != "":
		return t.resolveFunction(p)
	}
	found, err := t.sources.locate(program, b.at)
	if err != nil {
		return err
	}
	line := symbol.Line{File: found[0].File, Number: found[0].Line}
	b.line = line.Number
	p.meets = func(f view.Frame) bool { return f.HasPC && t.lineOf(f.PC) == line }
	return t.reached(line)
}

// isSource reports whether a tracepoint has a location by this text.
func (t *traceFile) isSource(text string) bool {
	return slices.ContainsFunc(t.view.Content.Header().Tracepoints, func(d trace.Tracepoint) bool { return d.Source.At == text })
}

func (t *traceFile) resolveFunction(p *framePoint) error {
	found, err := t.view.Symbols.Locate(p.function)
	if err != nil {
		return err
	}
	functions, at := make(map[string]bool), make(map[arch.Addr]bool)
	for _, l := range found {
		functions[l.Function], at[l.Addr] = true, true
	}
	delete(functions, "")
	p.meets = func(f view.Frame) bool { return f.HasPC && (at[f.PC] || functions[t.view.Symbols.At(f.PC).Function]) }
	return nil
}

// lineOf is the line of a pc. A run has few different ones.
func (t *traceFile) lineOf(pc arch.Addr) symbol.Line {
	line, known := t.lines[pc]
	if !known {
		const most = 1 << 16
		if len(t.lines) == most {
			clear(t.lines)
		}
		line, _ = t.view.Symbols.Line(pc)
		t.lines[pc] = line
	}
	return line
}

// reached says where else there are tracepoints if none is at a line. Those that step may come to any line.
func (t *traceFile) reached(line symbol.Line) error {
	var others []string
	for _, d := range t.view.Content.Header().Tracepoints {
		at := t.lineOf(d.Addr)
		if at == line || d.Step > 0 {
			return nil
		}
		if at.File == line.File {
			others = append(others, strconv.Itoa(at.Number))
		}
	}
	slices.Sort(others)
	others = slices.Compact(others)
	if len(others) == 0 {
		return errors.New("the run has no tracepoint in this file")
	}
	return fmt.Errorf("the run has no tracepoint at this line; it has some at %s", strings.Join(others, ", "))
}

func (t *traceFile) begin(ctx context.Context, stopAtEntry bool) (stop, error) {
	if !stopAtEntry {
		// The first frame may be one to stop at.
		if hit, err := t.hits(t.moment.reader); err != nil || len(hit) > 0 {
			return t.stopped("breakpoint", "", hit), err
		}
		return t.move(ctx, motion{way: onward})
	}
	return t.stopped("entry", "at the first frame", nil), nil
}

func (t *traceFile) restart(context.Context) (stop, error) {
	err := t.stand(0)
	return t.stopped("entry", "at the first frame", nil), err
}

func (t *traceFile) stopped(reason, description string, hit []int) stop {
	return stop{reason: reason, description: description, thread: t.moment.threadOf(), hit: hit}
}

// move goes to the next frame or the previous one, or to one that a breakpoint is for.
func (t *traceFile) move(ctx context.Context, m motion) (stop, error) {
	step, last, end := 1, t.view.Content.NumFrames()-1, "at the last frame"
	if m.backwards {
		step, last, end = -1, 0, "at the first frame"
	}
	if t.number == last {
		return t.stopped("step", end, nil), nil
	}
	if m.way != onward {
		err := t.stand(t.number + step)
		return t.stopped("step", "", nil), err
	}
	var buf []byte
	reader := t.view.NewReader()
	for i := t.number + step; len(t.points) > 0 && (last-i)*step >= 0; i += step {
		f, err := t.view.Frame(i, buf)
		if err != nil {
			return t.stopped("pause", "", nil), err
		}
		buf = f.Bytes()
		reader.Set(f)
		hit, err := t.hits(reader)
		switch {
		case err != nil:
			return t.stopped("pause", "", nil), err
		case ctx.Err() != nil:
			err := t.stand(i)
			return t.stopped("pause", "", nil), err
		case len(hit) > 0:
			err := t.stand(i)
			return t.stopped("breakpoint", "", hit), err
		}
	}
	err := t.stand(last)
	return t.stopped("step", end, nil), err
}

// hits returns the breakpoints that stop at a frame, and prints the log points.
func (t *traceFile) hits(r *view.Reader) (hit []int, err error) {
	for _, p := range t.points {
		if !p.meets(r.Frame()) || p.condition != nil && !p.condition.Match(r) || !p.counts() {
			continue
		}
		if p.log == nil {
			hit = append(hit, p.id)
			continue
		}
		m := &frameMoment{names: t.named, view: t.view, reader: r}
		t.session.log(t.named, m, p.log)
	}
	return hit, nil
}

// targets implements jumper: the frames of a line that are nearest.
func (t *traceFile) targets(ctx context.Context, at sourceLine) (list []int, err error) {
	if t.view.Symbols == nil {
		return nil, errNoNames
	}
	p := framePoint{breakpoint: &breakpoint{at: at}}
	if err := t.resolve(&p); err != nil {
		return nil, err
	}
	const most = 20 // on either side
	var buf []byte
	for _, step := range []int{-1, 1} {
		found := 0
		for i := t.number + step; i >= 0 && i < t.view.Content.NumFrames() && found < most && ctx.Err() == nil; i += step {
			f, err := t.view.Frame(i, buf)
			if err != nil {
				return nil, err
			}
			buf = f.Bytes()
			if p.meets(f) {
				list = append(list, i)
				found++
			}
		}
	}
	slices.Sort(list)
	return list, nil
}

func (t *traceFile) jump(to int) (stop, error) {
	if to < 0 || to >= t.view.Content.NumFrames() {
		return stop{}, fmt.Errorf("there is no frame %d: the last is %d", to, t.view.Content.NumFrames()-1)
	}
	err := t.stand(to)
	return t.stopped("goto", "", nil), err
}

// list implements debuggee.
func (t *traceFile) list() frameList { return &fileFrames{t} }

// fileFrames is the frames of a file.
type fileFrames struct{ t *traceFile }

func (l *fileFrames) count() int { return l.t.view.Content.NumFrames() }

func (l *fileFrames) moment(i int) (*frameMoment, error) {
	f, err := l.t.view.Frame(i, nil)
	if err != nil {
		return nil, err
	}
	return newFrameMoment(l.t.named, l.t.view, f), nil
}

func (l *fileFrames) entry(i int) (frameEntry, error) {
	m, err := l.moment(i)
	if err != nil {
		return frameEntry{}, err
	}
	return m.entryOf(), nil
}

func (l *fileFrames) tree(i int) *tree {
	return lazyTree(func() (*frameMoment, error) { return l.moment(i) })
}

func (l *fileFrames) filter(where string) (func(int) (bool, error), error) {
	condition, err := l.t.view.Condition(where)
	if err != nil {
		return nil, err
	}
	reader := l.t.view.NewReader()
	var buf []byte
	return func(i int) (bool, error) {
		f, err := l.t.view.Frame(i, buf)
		if err != nil {
			return false, err
		}
		buf = f.Bytes()
		reader.Set(f)
		return condition.Match(reader), nil
	}, nil
}

// commands implements debuggee.
func (t *traceFile) commands() []command {
	return []command{
		{"frame", "[N]", "goes to a frame, or says which one this is", t.frame},
		{"find", "EXPR", "goes to the next frame for which an expression is not 0",
			func(ctx context.Context, _ *session, e string) (string, *stop, error) { return t.search(ctx, e, 1) }},
		{"find-back", "EXPR", "goes to the previous one",
			func(ctx context.Context, _ *session, e string) (string, *stop, error) { return t.search(ctx, e, -1) }},
		{"tracepoints", "", "lists the tracepoints of the run", t.tracepoints},
	}
}

// frame goes to a frame by its number.
func (t *traceFile) frame(_ context.Context, _ *session, n string) (string, *stop, error) {
	if n == "" {
		e := t.moment.entryOf()
		return fmt.Sprintf("frame %d of %d, tracepoint %d: %s", t.number, t.view.Content.NumFrames(), e.Tracepoint, e), nil, nil
	}
	to, err := strconv.Atoi(n)
	if err != nil {
		return "", nil, fmt.Errorf("%q is no number of a frame", n)
	}
	at, err := t.jump(to)
	return "", &at, err
}

// search goes to the nearest frame in one direction for which an expression holds.
func (t *traceFile) search(ctx context.Context, where string, step int) (string, *stop, error) {
	if where == "" {
		return "", nil, errors.New("find wants an expression over frames, as show --where does")
	}
	holds, err := t.list().filter(where)
	if err != nil {
		return "", nil, err
	}
	for i := t.number + step; i >= 0 && i < t.view.Content.NumFrames(); i += step {
		ok, err := holds(i)
		switch {
		case err != nil:
			return "", nil, err
		case ctx.Err() != nil:
			return "", nil, ctx.Err()
		case ok:
			at, err := t.jump(i)
			return fmt.Sprintf("frame %d", i), &at, err
		}
	}
	return "no frame there", nil, nil
}

// tracepoints lists what the run traced.
func (t *traceFile) tracepoints(context.Context, *session, string) (string, *stop, error) {
	counts := t.view.FramesByTracepoint()
	var b strings.Builder
	for _, d := range view.ByNumber(t.view.Content.Header().Tracepoints) {
		fmt.Fprintf(&b, "%d at %s: %s, %d frames\n", d.Number, d.Addr, t.named.describe(d.Addr), counts[d.Number])
	}
	return strings.TrimSuffix(b.String(), "\n"), nil, nil
}

// Requests that jump.

func gotoTargets(s *session, a *protocol.GotoTargetsArguments) (any, error) {
	j, ok := s.debuggee.(jumper)
	if !ok {
		return nil, errUnsupported
	}
	list, err := j.targets(s.handles.ctx, sourceLine{a.Source.Path, s.client.fromClient(a.Line)})
	if err != nil {
		return nil, err
	}
	body := protocol.GotoTargetsResponseBody{Targets: []protocol.GotoTarget{}}
	frames := s.debuggee.list()
	for _, i := range list {
		e, err := frames.entry(i)
		if err != nil {
			return nil, err
		}
		body.Targets = append(body.Targets, protocol.GotoTarget{Id: i, Label: fmt.Sprintf("%d: %s", i, e), Line: a.Line})
	}
	return body, nil
}

func goTo(s *session, a *protocol.GotoArguments) (any, error) {
	j, ok := s.debuggee.(jumper)
	if !ok {
		return nil, errUnsupported
	}
	at, err := j.jump(a.TargetId)
	if err == nil {
		s.later = append(s.later, func() { s.stopped(at) })
	}
	return nil, err
}
