package serve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"

	"tracewell/arch"
	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/cmd/tracewell/internal/cli/page"
	"tracewell/internal/routine"
	"tracewell/record/local"
	"tracewell/record/output"
	"tracewell/runcontrol"
	"tracewell/symbol"
	"tracewell/target"
	"tracewell/target/linux"
	"tracewell/tfile"
	"tracewell/trace"
	"tracewell/tracepoint"
	"tracewell/view"
	"tracewell/view/wire"
	"tracewell/web/frames"
	"tracewell/web/sources"
)

// servedPage is the page of --view: what the engine holds, and what the program does. It only reads: frames stay in the trace
// buffer, and are copied as the page asks for them.
//
// Nothing tells it of changes. It looks at the counts of the run and at the state of the debuggee, at intervals that depend on how
// long a look takes (frames.Growing), since a program may be hit millions of times a second and GDB may step thousands of times.
type servedPage struct {
	target *linux.Target
	engine *tracepoint.Engine
	state  func() runcontrol.State

	process  shownProcess
	names    *symbol.Program // nil if the program's file cannot be read, and before there is one
	view     *view.View      // as it was made last
	status   trace.Status    // as it was then
	points   int
	debuggee wire.Debuggee
}

// shownProcess is what the names of a page depend on. After an exec, entry point or file differ.
type shownProcess struct {
	path    string // of the program
	file    string // which is opened: another name of it where path leads elsewhere, as in a container
	entry   arch.Addr
	objects string // where the program and its libraries lie, as lines of a trace file's description
}

// showPage serves the page, whose address it prints, until end is called.
func showPage(t *linux.Target, engine *tracepoint.Engine, state func() runcontrol.State, streams console.Streams,
	version page.Version,
) (end func(), err error) {
	p := &servedPage{target: t, engine: engine, state: state}
	// Any free port: the address has a token in it, so it has to be copied in any case.
	address, err := page.Loopback("127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	// The first look tells where the program is, below whose folder its sources are.
	first, err := p.look()
	if err != nil {
		return nil, err
	}
	files, err := sources.New(p.process.path, nil)
	if errors.Is(err, fs.ErrNotExist) { // the program is deleted, or in another mount namespace
		files, err = sources.New("", nil)
	}
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	open := func() (*view.View, error) {
		if v := first; v != nil {
			first = nil
			return v, nil
		}
		return p.look()
	}
	growing, err := frames.NewGrowing(ctx, "tracewell serve", open, files)
	if err != nil {
		cancel()
		return nil, err
	}
	growing.ShowDebuggee(func() *wire.Debuggee { d := p.debuggee; return &d })
	// From here on the goroutine that follows owns p: only it looks at the engine and the process, and the page answers from what it
	// has seen.
	var running routine.Group
	running.Go(func() { growing.Follow(ctx, nil) })
	running.Go(func() {
		// Standard output may be the program's, or the connection to GDB.
		if err := page.Serve(ctx, streams.Err, streams.Err, growing, page.Place{Address: address}, version); err != nil {
			fmt.Fprintf(streams.Err, "tracewell: --view: %v\n", err)
		}
	})
	return func() {
		cancel()
		running.Wait()
		if p.names != nil {
			p.names.Close()
		}
	}, nil
}

// look returns a view of what the engine holds now, nil if nothing has changed since the last.
func (p *servedPage) look() (*view.View, error) {
	// Status and tracepoints first: what comes between them and the capture is seen as a change the next time.
	status, points := p.engine.Status(), len(p.engine.Tracepoints())
	renamed := p.readNames()
	debuggee := p.describeState()
	// A stop counts as a change even if no frame has come: the page says where it was.
	if p.view != nil && !renamed && status == p.status && points == p.points && debuggee == p.debuggee {
		return nil, nil
	}
	content, err := p.capture(status.Circular)
	if err != nil {
		return nil, err
	}
	v, _ := view.New(content, p.names) // what cannot be named is shown by its address
	p.view, p.status, p.points = v, status, points
	p.debuggee = p.describeState() // again, with the names of this view
	return v, nil
}

// capture returns what the engine holds. A circular buffer drops frames while they are looked at, so of that there is a copy.
func (p *servedPage) capture(circular bool) (tfile.Content, error) {
	description := output.Describe(p.target.Description(), nil) + p.process.objects
	if !circular { // nothing is copied: GDB may have asked for gigabytes
		return p.engine.Capture(description), nil
	}
	var file bytes.Buffer
	if err := p.engine.Save(&file, description); err != nil {
		return nil, err
	}
	return tfile.Open(bytes.NewReader(file.Bytes()), int64(file.Len()))
}

// readNames finds the files of the first process, and reports whether they have changed. A process that is gone leaves its names to
// its frames. After a fork that GDB follows, parent and child have the same files, at the same addresses.
func (p *servedPage) readNames() (changed bool) {
	threads := p.target.Threads()
	if len(threads) == 0 {
		return false
	}
	// A process that is just being started or is about to end may not tell everything: then the next look does.
	now, err := p.shown(threads[0].PID)
	if err != nil || now == p.process {
		return false
	}
	if now.file != p.process.file || now.entry != p.process.entry {
		// Views of the program before may still be in use by answers; what it has open goes with the process.
		p.names, _ = symbol.Open(now.file, symbol.Options{})
	}
	p.process = now
	return true
}

// shown reads what names depend on.
func (p *servedPage) shown(pid int) (now shownProcess, err error) {
	if now.path, err = p.target.ExecFile().ReadExecFile(pid); err != nil {
		return now, err
	}
	// The path is one of the process's mount namespace, which may be another than ours.
	now.file = local.Readable(pid, now.path)
	space, err := target.ProgramSpace(p.target, pid)
	if err != nil {
		return now, err
	}
	now.entry = space.Entry()
	names := p.names
	if names == nil || now.file != p.process.file {
		if names, err = symbol.Open(now.file, symbol.Options{}); err != nil {
			return now, nil // shown without names
		}
		defer names.Close()
	}
	// In the description as record writes it, so that the view names what is in libraries, too, wherever they are loaded.
	bias, err := space.Bias(names.Main().File().EntryPoint())
	if err != nil {
		return now, err
	}
	objects := []tfile.Object{{Path: now.path, Bias: bias}}
	// The dynamic linker's list is empty until it has run, and cannot be read while it works.
	if links, err := p.target.Libraries().ReadLibraries(pid); err == nil {
		for o := range links.Libraries() {
			objects = append(objects, tfile.Object{Path: o.Name, Bias: o.Addr})
		}
	}
	for _, o := range objects {
		if line := o.Comment(); line != "" {
			now.objects += "\n" + line
		}
	}
	return now, nil
}

// describeState says in words what the program does.
func (p *servedPage) describeState() wire.Debuggee {
	state := p.state()
	stop := state.Stop
	switch {
	case state.Running:
		// In non-stop mode some thread does.
		return wire.Debuggee{Running: true, Text: "running"}
	case stop.Kind == target.Terminated:
		return wire.Debuggee{Text: "ended by " + runcontrol.SignalName(stop.Signal)}
	case stop.Kind == target.Exited && stop.Thread.PID == 0: // with --multi, before the first
		return wire.Debuggee{Text: "no program"}
	case stop.Kind == target.Exited:
		return wire.Debuggee{Text: fmt.Sprintf("exited with status %d", stop.Code)}
	}
	// GDB calls these stops by their signals, too; where is what one looks for.
	text := "stopped"
	if pc, ok := p.pc(stop.Thread); ok {
		text += " at " + p.place(pc)
	}
	// An event such as a fork has no signal of its own.
	if stop.Kind == target.Stopped && stop.Signal != target.SignalNone {
		text += " (" + runcontrol.SignalName(stop.Signal) + ")"
	}
	return wire.Debuggee{Text: text}
}

// pc reads the program counter of a stopped thread. One that has been resumed meanwhile has none.
func (p *servedPage) pc(id target.ThreadID) (arch.Addr, bool) {
	layout, err := p.target.Description().Layout()
	if err != nil {
		return 0, false
	}
	block, slot := make([]byte, layout.Size), layout.ByNumber(p.target.ISA().PC)
	if slot == nil || p.target.ReadRegisters(id, block) != nil {
		return 0, false
	}
	return arch.Addr(arch.Uint(block[slot.Offset:slot.Offset+slot.Size], p.target.ISA().Order)), true
}

// place names an address as far as the view knows names.
func (p *servedPage) place(pc arch.Addr) string {
	if p.view == nil {
		return pc.String()
	}
	// Names as the rows of the page have them: function and offset, source line.
	text := p.view.Describe(pc)
	if text == "" {
		text = pc.String()
	}
	if line := p.view.Line(pc); line != "" {
		text += ", " + line
	}
	return text
}
