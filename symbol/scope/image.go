package scope

import (
	"debug/dwarf"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"tracewell/arch"
	"tracewell/ax"
	"tracewell/internal/demangle"
	"tracewell/sdt"
	"tracewell/symbol/ctype"
	"tracewell/symbol/debuginfo"
	"tracewell/tdesc"
	"tracewell/tdesc/machine"
	"tracewell/trace"
)

// Options are what debugging information does not say. The zero value is an executable on Linux, alone.
type Options struct {
	ISA    *arch.ISA     // that of the file if nil
	Layout *tdesc.Layout // the registers of the target; if nil those of any Linux where variables are found at all, else none
	// Variable finds a trace state variable by its name without the $.
	Variable func(name string) (trace.VariableNumber, bool)
	// Others lists the files of the program in the order of the dynamic linker, the executable first; this one may be among
	// them. What this file only declares, or does not have, is looked for there.
	Others func() []*Image
	// Library says that the file is a shared library: where its thread-local storage lies is then for TLSOffset to say, which
	// gives how far below the thread pointer it begins; it is false where that is not known.
	Library   bool
	TLSOffset func() (int64, bool)
	// Probe finds the static tracepoint at an address of the file, nil if there is none.
	Probe func(pc arch.Addr) *sdt.Probe
}

// Image is a file at its place in a program. What was once read of its types is kept, so one Image serves all scopes. Addresses
// within it are those of the file; those that it returns are those of the running program, with the bias added.
type Image struct {
	file      *debuginfo.File
	bias      arch.Addr
	options   Options
	types     *types
	symbols   func() map[string]debuginfo.Symbol
	calls     func() *calls
	described func() descriptions
}

// New returns a file that is loaded bias above the addresses that it was linked for.
func New(f *debuginfo.File, bias arch.Addr, o Options) *Image {
	if o.Layout == nil {
		o.Layout = defaultLayout(f.Arch())
	}
	if o.ISA == nil {
		o.ISA = isaOf(f, o.Layout)
	}
	m := &Image{file: f, bias: bias, options: o}
	m.types = &types{image: m, file: f, bias: bias, known: make(map[debuginfo.Offset]*ctype.Type)}
	m.calls = sync.OnceValue(m.findCalls)
	m.described = sync.OnceValue(m.findDescribed)
	// Of several symbols with one name the global one counts, as for the linker: local ones are of one object file each.
	m.symbols = sync.OnceValue(func() map[string]debuginfo.Symbol {
		all := make(map[string]debuginfo.Symbol)
		for _, s := range f.Symbols() {
			if _, known := all[s.Title()]; !known || s.Global {
				all[s.Title()] = s
			}
		}
		return all
	})
	return m
}

// isaOf is the instruction set of a file whose program has such registers.
func isaOf(f *debuginfo.File, layout *tdesc.Layout) *arch.ISA {
	m := f.Arch()
	return &arch.ISA{
		Machine: m, Name: strings.TrimPrefix(f.Machine().String(), "EM_"), Order: f.Order(), AddrSize: f.AddrSize(),
		PC: layout.Number(m.PC), SP: layout.Number(m.SP), FP: layout.Number(m.FP),
	}
}

// layouts are the registers of programs on Linux, by machine.
var layouts sync.Map

// defaultLayout has the registers that every Linux of a machine has; none where the description of them is not at hand.
func defaultLayout(m *arch.Machine) *tdesc.Layout {
	if kept, ok := layouts.Load(m); ok {
		return kept.(*tdesc.Layout)
	}
	layout := &tdesc.Layout{}
	if description := machine.Linux(m); description != nil && m.Variables {
		var err error
		if layout, err = description.Layout(); err != nil {
			panic(err) // of a description that is a part of the program
		}
	}
	kept, _ := layouts.LoadOrStore(m, layout)
	return kept.(*tdesc.Layout)
}

// all are the files of the program, this one first.
func (m *Image) all() []*Image { return append([]*Image{m}, m.others()...) }

// others are the other files of the program.
func (m *Image) others() []*Image {
	if m.options.Others == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(m.options.Others()), func(other *Image) bool { return other == m })
}

// data finds a variable of the file by the name that the linker has for it.
func (m *Image) data(symbol string) (arch.Addr, bool) {
	s, ok := m.symbols()[symbol]
	return s.Addr + m.bias, ok && s.Kind == debuginfo.SymbolObject
}

// linked finds a variable of the program by the name that the linker has for it, as the running program uses it: a copy that
// the executable has of a library's variable comes before that.
func (m *Image) linked(symbol string) (arch.Addr, bool) {
	if m.options.Others != nil {
		for _, other := range m.options.Others() {
			if addr, ok := other.data(symbol); ok {
				return addr, true
			}
		}
	}
	return m.data(symbol)
}

// undescribed finds a static member, by the name that it has with its class, in the symbol tables of the program: a library may
// define it and have no debugging information. The symbol of every member ends alike.
func (m *Image) undescribed(qualified, member string) (arch.Addr, bool) {
	ending := fmt.Sprintf("%d%sE", len(member), member)
	closed := strings.NewReplacer("> >", ">>")
	// The file itself comes last: a library that defines the member is more often without debug information than the file that uses
	// it.
	for _, image := range append(m.others(), m) {
		for symbol := range image.symbols() {
			if !strings.HasSuffix(symbol, ending) {
				continue
			}
			if name, ok := demangle.Source(symbol); ok && closed.Replace(name) == closed.Replace(qualified) {
				return m.linked(symbol)
			}
		}
	}
	return 0, false
}

// At returns what names mean at a pc of the running program.
func At(f *debuginfo.File, pc, bias arch.Addr, o Options) *Scope { return New(f, bias, o).At(pc) }

// frame is what the locations in a unit refer to at a pc. The function is nil outside of any.
func (m *Image) frame(unit *debuginfo.Unit, function *debuginfo.Entry, pc arch.Addr) *frame {
	// A fresh frame for each pc: base and cfa depend on it. It refers to itself where an expression needs another one.
	isa := m.options.ISA
	f := &frame{order: isa.Order, addrSize: isa.AddrSize, bias: m.bias, register: m.register, name: m.registerName, tls: m.threadLocal}
	if unit != nil {
		f.address = unit.Address
		f.cell = func(offset uint64) (cell, error) { return m.cell(unit.At(offset)) }
	}
	if function != nil {
		ranges := m.file.Ranges(function)
		f.entry = len(ranges) > 0 && ranges[0].Begin == pc // the first range is the one that is entered, not the lowest
	}
	f.push = f.current
	f.passed = func(n uint64) (emit, error) { return m.passed(f, function, pc, n) }
	f.cfa = func() (emit, error) { return m.cfa(f, pc) }
	f.base = func() (emit, error) {
		if function == nil {
			return nil, errors.New("its location is in a frame, and there is no function here")
		}
		return m.frameBase(f, m.file.LocationAt(function, dwarf.AttrFrameBase, pc))
	}
	return f
}

// frameBase compiles DW_AT_frame_base. GCC 12 writes DW_OP_call_frame_cfa, in strict DWARF 2 a list of registers with offsets, and
// Clang 14 a register location (DW_OP_reg6), which means here that the base is what the register holds, not where it is (DWARF 5,
// 3.3.5). It must not refer to itself by DW_OP_fbreg.
func (m *Image) frameBase(f *frame, code []byte) (emit, error) {
	if len(code) == 1 && code[0] >= opReg0 && code[0] <= opReg31 {
		code = []byte{code[0] - opReg0 + opBreg0, 0}
	}
	if len(code) == 0 {
		return nil, errors.New("the function has no frame base here")
	}
	inner := *f
	inner.base = func() (emit, error) { return nil, errDamaged }
	return inner.emission(code)
}

// cfa compiles the canonical frame address by the unwind table. An expression for it cannot ask for the CFA itself.
func (m *Image) cfa(f *frame, pc arch.Addr) (emit, error) {
	unwound, err := m.file.CFA(pc)
	if err != nil {
		return nil, fmt.Errorf("the frame at %v is not known: %w", pc+m.bias, err)
	}
	if unwound.CFA.Expr != nil {
		inner := *f
		inner.cfa = func() (emit, error) { return nil, errDamaged }
		return inner.emission(unwound.CFA.Expr)
	}
	push, err := f.push(unwound.CFA.Register)
	if err != nil {
		return nil, err
	}
	return push.plus(unwound.CFA.Offset), nil
}

// cell reads the base type that a typed operator names (DWARF 5, 2.5.1). Agent expressions compute with integers only.
func (m *Image) cell(off debuginfo.Offset) (cell, error) {
	e, err := m.file.Entry(off)
	if err != nil || e.Tag != dwarf.TagBaseType {
		return cell{}, errDamaged
	}
	size, _ := e.Unsigned(dwarf.AttrByteSize)
	switch encoding, _ := e.Unsigned(dwarf.AttrEncoding); encoding {
	case encodingFloat, encodingComplex:
		return cell{}, errors.New("its location computes with floating-point numbers")
	case encodingSigned, encodingSignedChar:
		return cell{int(min(size, 16)), true}, cellSize(size)
	}
	return cell{int(min(size, 16)), false}, cellSize(size)
}

// cellSize rejects integers that a cell of 64 bits cannot hold, such as __int128.
func cellSize(size uint64) error {
	if size == 0 || size > 8 {
		return fmt.Errorf("its location computes with numbers of %d bytes", size)
	}
	return nil
}

// threadLocal returns the code of DW_OP_form_tls_address, and GNU's operator of the kind: it turns an offset in the file's block of
// thread-local storage into the address in the current thread. An agent expression cannot call __tls_get_addr, so only blocks at a
// fixed distance from the thread pointer can be reached: those of files that were loaded at the start of the program (static TLS).
func (m *Image) threadLocal() (emit, error) {
	below, err := m.belowThread()
	if err != nil {
		return nil, err
	}
	base := m.options.Layout.ByName(m.options.ISA.Machine.ThreadPointer)
	if base == nil {
		return nil, fmt.Errorf("it is thread-local, and the target has no register $%s", m.options.ISA.Machine.ThreadPointer)
	}
	return func(b *ax.Builder) error {
		b.Emit(ax.OpReg, uint64(base.Reg.Num))
		b.Emit(ax.OpAdd)
		addOffset(b, -below)
		return nil
	}, nil
}

// belowThread is how far below the thread pointer the file's block begins. Only the executable's is known from the file: its
// block is the first below the thread pointer (variant II of the ELF TLS specification, which x86-64 has), rounded up so that it
// is aligned.
func (m *Image) belowThread() (int64, error) {
	if m.options.TLSOffset != nil {
		if below, ok := m.options.TLSOffset(); ok {
			return below, nil
		}
	}
	local, ok := m.file.ThreadLocal()
	switch {
	case !ok:
		return 0, errors.New("it is thread-local, and the file has no thread-local storage")
	case m.options.Library:
		return 0, errors.New("it is thread-local, and where the storage of a shared library lies is only known when it is loaded")
	}
	// glibc keeps the offset of the block within its alignment, so that the block may begin further below by what is left over.
	first := -uint64(local.Addr) & (local.Align - 1)
	return int64((local.Size-first+local.Align-1)&^(local.Align-1) + first), nil
}
