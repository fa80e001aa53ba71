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
	named   map[trace.Number][]string
	program *symbol.Program // nil if it cannot be read
	stop    func()          // ends the run
	start   time.Time
	at      bool // it is a terminal: lines are written at once

	mu    sync.Mutex
	view  *view.View
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
	// The format by default is parsed like one of the user's, so that there is one way to print a line.
	if !w.format.Given() {
		_ = w.format.UnmarshalText([]byte(printing.UsualFormat)) // it is right
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

// definitions are a tfile.Content of a header alone: view gives names to frames that have been collected but are in no file yet.
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

// adopt makes a view of the present definitions, by which frames are printed from now on. What they cannot be used for is
// reported by show, when the file is read.
func (p *runPrinter) adopt(h tfile.Header) error {
	// The view is made in front of the lock: names are looked up in the debug information, during which frames go on being printed by
	// the definitions that there were.
	v, _ := view.New(definitions(h), p.program)
	var write printing.FrameWriter = wire.NewJSONFrames(p.out, v)
	if !p.json {
		lines, err := printing.NewLineWriter(p.out, v, p.format, p.named, p.start)
		if err != nil {
			return err
		}
		write = lines
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.view, p.write = v, write
	return nil
}

// frame prints a frame, which is valid until it returns. After an error it prints nothing more.
func (p *runPrinter) frame(f record.Frame) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err != nil {
		return
	}
	// A frame is formatted at once, as its bytes are the queue's and are overwritten by later ones.
	err := p.write.Add(p.view.Of(int(f.Index), f.Frame))
	if p.at {
		err = errors.Join(err, p.out.Flush())
	}
	p.fail(err)
}

// fail keeps the first error of writing, and ends the run: there is nobody to print for. The caller holds mu.
func (p *runPrinter) fail(err error) {
	if err != nil && p.err == nil {
		p.err = err
		p.stop()
	}
}

// flushInterval is how long a line to a pipe or a file may be held back. A write for each would cost more than the hit.
const flushInterval = 100 * time.Millisecond

// flushNowAndThen writes lines that a slow program would leave in the buffer for minutes.
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

// begin starts to flush lines in the background until close.
func (p *runPrinter) begin() { p.idle.Go(p.flushNowAndThen) }

// close writes what is left. A broken pipe is no error, since "record --print | head" is meant to end so.
func (p *runPrinter) close() error {
	// The goroutine that flushes has ended before the last flush, and no frame comes any more: the run is over.
	close(p.ended)
	p.idle.Wait()
	p.fail(p.out.Flush())
	if console.IsBrokenPipe(p.err) {
		return nil
	}
	return p.err
}
