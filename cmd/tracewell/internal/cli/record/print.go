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
	frameview "tracewell/view"
	"tracewell/view/wire"
)

// runPrinter prints the frames of a run while it is on.
type runPrinter struct {
	out     *console.Output
	format  printing.LineFormat
	json    bool
	named   map[trace.Number][]string
	program *symbol.Program // nil if it cannot be read
	stop    func()          // ends the run
	start   time.Time
	at      bool // a terminal, where lines are waited for

	mu    sync.Mutex
	view  *frameview.View
	write printing.FrameWriter
	err   error // of writing
	ended chan struct{}
	idle  routine.Group
}

// newRunPrinter prints to out; when nobody reads that any more it stops the run.
func newRunPrinter(c *Command, p *plan.Plan, out *console.Output, stop func()) *runPrinter {
	w := &runPrinter{
		out: out, format: c.Format, json: c.JSON, named: namedRegisters(p), stop: stop, at: out.Lines > 0,
		ended: make(chan struct{}),
	}
	if !w.format.Given() {
		_ = w.format.UnmarshalText([]byte(printing.UsualFormat)) // it is right
	}
	return w
}

// namedRegisters are the registers that each tracepoint of a plan collects by name.
func namedRegisters(p *plan.Plan) map[trace.Number][]string {
	named := make(map[trace.Number][]string)
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
		add(p.Tracepoints[i].Number, p.AllActions(&p.Tracepoints[i]))
	}
	return named
}

// definitions are the header of a trace whose frames come from elsewhere.
type definitions tfile.Header

// Header implements tfile.Content.
func (d definitions) Header() tfile.Header { return tfile.Header(d) }

// NumFrames implements tfile.Content.
func (definitions) NumFrames() int { return 0 }

// Tracepoint implements tfile.Content.
func (definitions) Tracepoint(int) trace.Number { return 0 }

// ReadFrame implements tfile.Content.
func (definitions) ReadFrame(int, []byte) (tfile.Frame, error) {
	return tfile.Frame{}, errors.New("the frames are elsewhere")
}

// adopt has frames understood by these definitions from now on.
func (p *runPrinter) adopt(h tfile.Header) error {
	view, _ := frameview.New(definitions(h), p.program) // what can't be used is told of by show
	var write printing.FrameWriter = wire.NewJSONFrames(p.out, view)
	if !p.json {
		lines, err := printing.NewLineWriter(p.out, view, p.format, p.named, p.start)
		if err != nil {
			return err
		}
		write = lines
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.view, p.write = view, write
	return nil
}

// frame prints a frame.
func (p *runPrinter) frame(f record.Frame) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err != nil {
		return
	}
	err := p.write.Add(p.view.Of(int(f.Index), f.Frame))
	if p.at {
		err = errors.Join(err, p.out.Flush())
	}
	p.fail(err)
}

// fail ends the run because lines can't be written.
func (p *runPrinter) fail(err error) {
	if err != nil && p.err == nil {
		p.err = err
		p.stop()
	}
}

// flushInterval is how long a line may be held back.
const flushInterval = 100 * time.Millisecond

func (p *runPrinter) flushNowAndThen() {
	tick := time.NewTicker(flushInterval)
	defer tick.Stop()
	for {
		select {
		case <-p.ended:
			return
		case <-tick.C:
			p.mu.Lock()
			p.fail(p.out.Flush())
			p.mu.Unlock()
		}
	}
}

// begin has lines written while the run is on.
func (p *runPrinter) begin() { p.idle.Go(p.flushNowAndThen) }

// close writes what is left. It is no error that nobody reads it.
func (p *runPrinter) close() error {
	close(p.ended)
	p.idle.Wait()
	p.fail(p.out.Flush())
	if console.IsBrokenPipe(p.err) {
		return nil
	}
	return p.err
}
