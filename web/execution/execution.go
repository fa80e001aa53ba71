// Package execution answers what a page asks about an execution trace.
//
// Questions about a point, such as what registers held or who wrote something, go to the index (itrace/query) and are answered in
// milliseconds however long the trace is. What is counted over all of it, such as calls, functions and coverage, takes one pass
// (reading), which starts with the first question that needs it; until its end such questions wait, and "reading" tells how far it
// is.
//
// The cursor of the page is a position: the number of the instruction in front of which it stands. Every question has it as an
// argument, so that nothing here changes, answers can be kept, and a link to a position shows the same to everybody.
package execution

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"sync"

	"tracewell/itrace/execution"
	"tracewell/itrace/program"
	"tracewell/itrace/query"
	"tracewell/symbol"
	"tracewell/view/wire"
	"tracewell/web"
	"tracewell/web/sources"
)

// Options are an execution trace and its program.
type Options struct {
	Execution *execution.Execution
	Content   io.ReaderAt // the trace, unpacked
	Size      int64       // of it, in bytes
	Program   *symbol.Program
	Sources   *sources.Sources // of the program; nil for none
	Notes     []string         // what of the trace was not understood
}

// Subject is an execution trace as a page shows it. It may be used by several goroutines.
type Subject struct {
	Options
	code    *program.Program // nil without a program
	reading reading

	mu   sync.Mutex
	free []*query.Trace // each for one goroutine at a time
}

// New returns the subject of an execution trace.
func New(o Options) *Subject {
	s := &Subject{Options: o}
	if o.Program != nil {
		s.code = program.New(o.Program.Main().File(), uint64(o.Program.Main().Bias()))
	}
	s.reading.done = make(chan struct{})
	return s
}

// Kind implements web.Subject.
func (s *Subject) Kind() string { return "execution" }

// Title implements web.Subject.
func (s *Subject) Title() string { return filepath.Base(s.Execution.Name) }

// The questions about a point are given a Trace of their own; those about the whole trace wait for the reading.
type (
	pointQuestion func(s *Subject, ctx context.Context, t *query.Trace, args url.Values) (any, error)
	wholeQuestion func(s *Subject, w *whole, args url.Values) (any, error)
)

var pointQuestions = map[string]pointQuestion{
	"summary": (*Subject).summary, "moments": (*Subject).moments, "cursor": (*Subject).cursor, "memory": (*Subject).memory,
	"position": (*Subject).position, "accesses": (*Subject).accesses, "executions": (*Subject).executions,
	"code": (*Subject).listing,
}

var wholeQuestions = map[string]wholeQuestion{
	"functions": (*Subject).functions, "files": (*Subject).files, "lines": (*Subject).lineCounts, "chart": (*Subject).chart,
}

// Answer implements web.Subject.
func (s *Subject) Answer(ctx context.Context, question string, args url.Values) (any, error) {
	if ask := pointQuestions[question]; ask != nil {
		return s.askPoint(ctx, ask, args)
	}
	if ask := wholeQuestions[question]; ask != nil {
		w, err := s.whole(ctx)
		if err != nil {
			return nil, err
		}
		return ask(s, w, args)
	}
	switch question {
	case "reading":
		return s.readingState(), nil
	case "move":
		// Steps over calls and out of them need the calls; single steps do not wait for them.
		if _, err := s.wholeFor(ctx, args.Get("by")); err != nil {
			return nil, err
		}
		return s.askPoint(ctx, (*Subject).move, args)
	case "source":
		return s.Sources.Answer(args)
	}
	return nil, web.ErrNoQuestion
}

// askPoint has a question asked of a Trace that nobody else uses meanwhile.
func (s *Subject) askPoint(ctx context.Context, ask pointQuestion, args url.Values) (any, error) {
	s.mu.Lock()
	var t *query.Trace
	if n := len(s.free); n > 0 {
		t, s.free = s.free[n-1], s.free[:n-1]
	}
	s.mu.Unlock()
	if t == nil {
		var err error
		if t, err = query.New(s.Execution, s.Program); err != nil {
			return nil, err
		}
	}
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if len(s.free) < mostFree {
			s.free = append(s.free, t)
		}
	}()
	return ask(s, ctx, t, args)
}

// mostFree is how many Traces are kept for later questions: a page asks few at the same time.
const mostFree = 4

// summary is the trace in short.
func (s *Subject) summary(_ context.Context, t *query.Trace, _ url.Values) (any, error) {
	e := s.Execution
	answer := wire.ExecutionSummary{
		Name: e.Name, Dialect: e.Dialect().String(), Machine: e.Title, Instructions: t.Instructions, Lines: t.Lines, Bytes: t.Bytes,
		CPUs: t.CPUs, Registers: append([]string{}, e.Names...), Notes: append([]string{}, s.Notes...),
	}
	if t.LastTime > 0 {
		answer.LastTime = &t.LastTime
	}
	if s.Program != nil {
		answer.Program, answer.HasLines = s.Program.Main().Path(), s.Program.Main().File().HasDWARF()
	}
	return answer, nil
}

// Static implements web.Subject: what is counted over the whole trace, and its beginning instruction by instruction.
func (s *Subject) Static() []web.Question {
	questions := []web.Question{{Name: "summary"}, {Name: "reading"}, {Name: "functions"}, {Name: "files"}}
	total := s.instructions()
	for _, cpu := range s.cpus() {
		questions = append(questions, web.Question{Name: "chart", Args: url.Values{
			"cpu": {fmt.Sprint(cpu)}, "from": {"0"}, "to": {fmt.Sprint(total)}, "pixels": {fmt.Sprint(staticPixels)}}})
	}
	for block := range min((total+blockRows-1)/blockRows, staticBlocks) {
		questions = append(questions, web.Question{Name: "moments", Args: url.Values{"block": {fmt.Sprint(block)}}})
	}
	for at := range min(total+1, staticCursors) {
		questions = append(questions, web.Question{Name: "cursor", Args: url.Values{"at": {fmt.Sprint(at)}}})
	}
	if s.Sources != nil {
		// Files are offered where they are named, so that the answers have to be there first. What goes wrong shows when they are
		// asked for.
		s.Answer(context.Background(), "functions", nil)
		s.Answer(context.Background(), "files", nil)
		for _, name := range s.Sources.Names() {
			file := url.Values{"file": {fmt.Sprint(name.File)}}
			questions = append(questions, web.Question{Name: "source", Args: file}, web.Question{Name: "lines", Args: file})
		}
	}
	return questions
}

// What a page of one file has of a trace, beside what is counted over all of it.
const (
	staticPixels  = 2048
	staticBlocks  = 16
	staticCursors = 128
)

// instructions are those of the trace, and cpus its processors.
func (s *Subject) instructions() (n int64) {
	s.askPoint(context.Background(), func(_ *Subject, _ context.Context, t *query.Trace, _ url.Values) (any, error) {
		n = t.Instructions
		return nil, nil
	}, nil)
	return n
}

func (s *Subject) cpus() (cpus []int32) {
	s.askPoint(context.Background(), func(_ *Subject, _ context.Context, t *query.Trace, _ url.Values) (any, error) {
		cpus = t.CPUs
		return nil, nil
	}, nil)
	return cpus
}
