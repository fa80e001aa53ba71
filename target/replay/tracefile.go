package replay

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"tracewell/arch"
	"tracewell/symbol"
	"tracewell/target"
	"tracewell/tdesc"
	"tracewell/tfile"
	"tracewell/trace"
	"tracewell/view"
)

// TraceFileOptions say what a trace file does not.
type TraceFileOptions struct {
	// Program is the path of the ELF file of the program that was traced; "" if there is none.
	Program string
	// Description describes the registers, in place of the description in the file; nil to take that.
	Description *tdesc.Target
}

// TraceFile is a trace run kept in a file. It may be used by several goroutines.
type TraceFile struct {
	content tfile.Content
	file    *tfile.File // content if it is one, maybe with another description; else nil
	header  tfile.Header
	view    *view.View
	isa     *arch.ISA
	program *program // nil if there is none
	// libraries are those of the process, as far as the file says where they were and they are still there.
	libraries []*program
	separate  []*program // what the program and the libraries have their debugging information in, if not in themselves

	mu      sync.Mutex
	pcs     []arch.Addr // of the frames that have been read for a search, from the first on; guarded by mu
	scratch []byte      // guarded by mu
	reading cursor      // guarded by mu
}

// NewTraceFile returns the trace run that content holds. The content and the program's file must stay readable. The warnings say
// what could not be used, or found out.
func NewTraceFile(content tfile.Content, o TraceFileOptions) (f *TraceFile, warnings []string, err error) {
	header := content.Header()
	if o.Description != nil {
		header.Description = string(o.Description.XML())
	}
	header.Tracepoints = highestFirst(header.Tracepoints)
	header.Variables = slices.SortedStableFunc(slices.Values(header.Variables), func(a, b trace.Variable) int {
		return cmp.Compare(a.Number, b.Number)
	})
	f = &TraceFile{content: restated{content, header}, header: header}
	f.file, _ = content.(*tfile.File)
	var names *symbol.Program
	if o.Program != "" {
		if f.program, err = openProgram(o.Program); err != nil {
			return nil, nil, err
		}
		if names, err = symbol.Open(o.Program, symbol.Options{}); err != nil {
			return nil, nil, err
		}
	}
	f.view, warnings = view.New(f.content, names)
	if f.view.Layout == nil {
		return nil, warnings, errNoDescription(f.header)
	}
	if pc := f.view.PC(); pc != nil && pc.Size == 4 && cutAddresses(f.header.Tracepoints) {
		f.view, warnings = view.New(f.content, names)
	}
	if f.program != nil && f.view.Symbols != nil {
		f.program.place(f.view.Symbols.Main().Bias())
		f.libraries = openLibraries(f.view.Symbols.Objects()[1:])
		f.separate = openSeparate(f.view.Symbols.Objects())
	}
	f.isa = isaOf(f.view, f.header.Order)
	return f, warnings, nil
}

// highestFirst orders tracepoints so that GDB 13.1 keeps the order of their numbers: it sets up those that it is told of, or reads
// from a file, from the last to the first, and numbers them anew.
func highestFirst(all []trace.Tracepoint) []trace.Tracepoint {
	return slices.SortedStableFunc(slices.Values(all), func(a, b trace.Tracepoint) int {
		return cmp.Or(cmp.Compare(b.Number, a.Number), cmp.Compare(b.Addr, a.Addr))
	})
}

// ErrNotDescribed is in the error for a trace file whose registers have no names.
var ErrNotDescribed = errors.New("it takes a target description")

// errNoDescription says why the registers of a file have no names.
func errNoDescription(h tfile.Header) error {
	if h.Description == "" {
		return fmt.Errorf("the file does not describe the registers of its machine, of %d bytes: %w", h.RegisterSize, ErrNotDescribed)
	}
	return fmt.Errorf("the target description in the file cannot be used: %w", ErrNotDescribed)
}

// cutAddresses leaves of the addresses of tracepoints the 32 bits that they have, and reports whether there were more: in a file of
// GDB's, addresses of a MIPS have the sign above them.
func cutAddresses(all []trace.Tracepoint) (cut bool) {
	for i := range all {
		addr := all[i].Addr & math.MaxUint32
		cut = cut || addr != all[i].Addr
		all[i].Addr = addr
	}
	return cut
}

// restated is a Content with another header.
type restated struct {
	tfile.Content
	header tfile.Header
}

// Header implements tfile.Content.
func (r restated) Header() tfile.Header { return r.header }

// isaOf is the instruction set that a file's description tells of. The stack has no register: what stop replies tell of it would
// be invented, as outside frames nothing is known but a place to stand at.
func isaOf(v *view.View, order arch.ByteOrder) *arch.ISA {
	isa := &arch.ISA{
		Machine: v.Target.Machine(), Name: v.Target.Architecture, Order: order, AddrSize: 8,
		PC: arch.NoReg, SP: arch.NoReg, FP: arch.NoReg,
	}
	if pc := v.PC(); pc != nil {
		isa.PC, isa.AddrSize = pc.Reg.Num, pc.Size
	}
	return isa
}

// Status implements target.TraceRun. A file that was saved during a run says that it is on, which it is not any more.
func (f *TraceFile) Status() trace.Status {
	if f.header.Status == nil {
		n := int64(f.content.NumFrames())
		return trace.Status{Reason: trace.ReasonUnknown, Frames: n, Created: n, Free: -1, Size: -1}
	}
	status := *f.header.Status
	status.Frames = int64(f.content.NumFrames())
	if status.Running {
		status.Running, status.Reason = false, trace.ReasonUnknown
	}
	return status
}

// Tracepoints implements target.TraceRun.
func (f *TraceFile) Tracepoints() []trace.Tracepoint { return f.header.Tracepoints }

// Variables implements target.TraceRun.
func (f *TraceFile) Variables() []trace.Variable { return f.header.Variables }

// Hits implements target.TraceRun.
func (f *TraceFile) Hits(key trace.Key) (hits, usage uint64, ok bool) {
	for i := range f.header.Tracepoints {
		if t := &f.header.Tracepoints[i]; t.Key() == key {
			return t.Hits, t.Usage, true
		}
	}
	return 0, 0, false
}

// Frame implements target.TraceRun.
func (f *TraceFile) Frame(n int) (target.Traceframe, bool, error) {
	if n < 0 || n >= f.content.NumFrames() {
		return target.Traceframe{}, false, nil
	}
	frame, err := f.view.Frame(n, nil)
	if err != nil {
		return target.Traceframe{}, false, err
	}
	return target.Traceframe{
		Frame: frame.Frame, Number: n, PC: frame.PC, Unplaced: !frame.HasPC, Stepped: f.view.Stepped(frame),
	}, true, nil
}
