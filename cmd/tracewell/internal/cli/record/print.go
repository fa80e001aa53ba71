package record

import (
	"errors"
	"strings"
	"sync"
	"time"

	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/cmd/tracewell/internal/cli/printing"
	"tracewell/internal/routine"
	"tracewell/record"
	"tracewell/record/plan"
	"tracewell/symbol"
	"tracewell/tfile"
	"tracewell/trace"
	"tracewell/view"
	"tracewell/view/wire"
)

// runPrinter prints frames while the run goes on. frame is called from the goroutine that writes the file, so it must not wait
// longer than a write takes; whoever reads a pipe slowly slows the program down, as --print promises every frame.
type runPrinter struct {
	out     *console.Output
	format  printing.LineFormat
	json    bool
	stacks  *printing.StackCounter // nil if frames are printed
	named   map[trace.Number][]string
	program *symbol.Program // nil if it cannot be read
	stop    func()          // ends the run
	start   time.Time
	names   view.ThreadName
	figures *figureScreen // in place of lines; nil for lines
	repeats func() []record.Repeat

	mu    sync.Mutex
	view  *view.View
	calls *view.Calls // that have not returned
	write printing.FrameWriter
	err   error // of writing
	ended chan struct{}
	idle  routine.Group
}

// newRunPrinter prints to out; when nobody reads that any more it stops the run.
func newRunPrinter(c *Command, p *plan.Plan, out *console.Output, stop func()) *runPrinter {
	w := &runPrinter{
		out: out, format: c.Format, json: c.JSON, named: namedRegisters(p), stop: stop,
		ended: make(chan struct{}),
	}
	if c.Counted() {
		w.stacks = printing.NewStackCounter(out, c.Stacks, c.JSON)
	}
	return w
}

// namedRegisters are the registers and variables that each tracepoint of a plan collects by name, also within while-stepping.
// {values} prints those, and neither all of a register block, which always comes whole, nor what nobody asked for.
func namedRegisters(p *plan.Plan) map[trace.Number][]string {
	named := make(map[trace.Number][]string)
	// The actions of while-stepping stand in its Body.
	var add func(n trace.Number, actions []plan.Action)
	add = func(n trace.Number, actions []plan.Action) {
		for _, a := range actions {
			for _, e := range a.Expressions {
				if strings.HasPrefix(e.Value, "$") {
					named[n] = append(named[n], e.Value)
				}
			}
			add(n, a.Body)
		}
	}
	for i := range p.Tracepoints {
		add(p.Tracepoints[i].Number, []plan.Action{{Kind: plan.Collect, Expressions: p.Default}})
		add(p.Tracepoints[i].Number, p.Tracepoints[i].Actions)
	}
	return named
}

// adopt makes a view of the present definitions, by which frames are printed from now on. What they cannot be used for is
// reported by show, when the file is read.
func (p *runPrinter) adopt(h tfile.Header) error {
	// The view is made in front of the lock: names are looked up in the debug information, during which frames go on being printed by
	// the definitions that there were.
	v, _ := view.New(tfile.Definitions(h), p.program)
	v.NameThreads(p.names)
	write, err := p.writer(v)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.view, p.write, p.calls = v, write, v.Calls(p.calls)
	if p.stacks != nil {
		p.stacks.Adopt(v)
	}
	return nil
}

// writer returns what prints frames of a view, or counts them. The counter is one for the whole run, whatever libraries come; it
// gets the new view with the lock held, since a frame may be on its way.
func (p *runPrinter) writer(v *view.View) (printing.FrameWriter, error) {
	switch {
	case p.figures != nil:
		return p.figures.writer(v)
	case p.stacks != nil:
		return p.stacks, nil
	case p.json:
		return wire.NewJSONFrames(p.out, v), nil
	}
	return printing.NewLineWriter(p.out, v, p.format, p.named, p.start)
}

// frame prints a frame, which is valid until it returns. After an error it prints nothing more.
func (p *runPrinter) frame(f record.Frame) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err != nil {
		return
	}
	// A frame is formatted at once, as its bytes are the queue's and are overwritten by later ones.
	p.fail(p.write.Add(p.calls.Pair(p.view.Of(int(f.Index), f.Frame))))
}

// shown writes the lines of frames that there are: somebody waits for them.
func (p *runPrinter) shown() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fail(p.out.Flush())
}

// lines reports whether it prints frames, rather than what comes of them.
func (p *runPrinter) lines() bool { return p.figures == nil && p.stacks == nil }

// fail keeps the first error of writing, and ends the run: there is nobody to print for. The caller holds mu.
func (p *runPrinter) fail(err error) {
	if err != nil && p.err == nil {
		p.err = err
		p.stop()
	}
}

// printNowAndThen prints figures at their interval.
func (p *runPrinter) printNowAndThen() {
	tick := time.NewTicker(p.figures.interval())
	defer tick.Stop()
	for {
		select {
		case <-p.ended:
			return
		case <-tick.C:
			p.count()
			p.mu.Lock()
			p.fail(errors.Join(p.figures.print(), p.out.Flush()))
			p.mu.Unlock()
		}
	}
}

// count adds hits to figures that were counted in place of a frame for each. They are fetched without the lock, as a hit may be
// waiting for a frame to be printed.
func (p *runPrinter) count() {
	repeats := p.repeats()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range repeats {
		if w, ok := p.write.(screenWriter); ok && p.err == nil {
			p.fail(w.AddTimes(p.view.Of(0, r.Frame), int(r.Times)))
		}
	}
}

// begin is when the run begins. Figures are printed in the background until close.
func (p *runPrinter) begin(start time.Time) {
	if p.figures != nil {
		p.figures.begin(start)
		p.idle.Go(p.printNowAndThen)
	}
}

// close writes what is left. A broken pipe is no error, since "record --print | head" is meant to end so.
func (p *runPrinter) close() error {
	// The goroutine that prints figures has ended before the last flush, and no frame comes any more: the run is over.
	close(p.ended)
	p.idle.Wait()
	if p.figures != nil {
		p.count()
	}
	// What is counted is printed now, unless nobody reads any more.
	if p.err == nil {
		p.fail(p.write.Flush())
	}
	p.fail(p.out.Flush())
	if console.IsBrokenPipe(p.err) {
		return nil
	}
	return p.err
}
