package expr

import (
	"debug/dwarf"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"strings"
	"sync"
	"testing"

	"tracewell/arch"
	"tracewell/ax"
	"tracewell/internal/exprtest"
	"tracewell/symbol/ctype"
	"tracewell/trace"
)

// simple is a Scope of a C program that was compiled without optimization: its locals lie at the CFA, which is 16 above rbp.
type simple struct {
	program *ctype.Program
	locals  []ctype.Local
	objects map[string]Object
	names   []string
	pc      arch.Addr
}

func simpleScope(t testing.TB, path string, pc arch.Addr) *simple {
	t.Helper()
	file, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	data, err := file.DWARF()
	if err != nil {
		t.Fatal(err)
	}
	s := &simple{program: ctype.Read(data, &sync.Mutex{}, false), objects: map[string]Object{}, pc: pc}
	s.locals = s.program.Locals(pc)
	s.functions(t, data)
	for _, local := range s.locals {
		s.names = append(s.names, local.Name)
	}
	s.names = append(s.names, s.program.Globals()...)
	return s
}

// functions finds the functions of the program.
func (s *simple) functions(t testing.TB, data *dwarf.Data) {
	r := data.Reader()
	for {
		e, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if e == nil {
			return
		}
		name, _ := e.Val(dwarf.AttrName).(string)
		if pc, ok := e.Val(dwarf.AttrLowpc).(uint64); ok && e.Tag == dwarf.TagSubprogram {
			s.objects[name] = Object{Name: name, Type: &ctype.Type{Kind: ctype.Function, Size: 1}, Place: Memory{fixedAt(arch.Addr(pc))}, Outer: true}
		}
	}
}

func fixedAt(addr arch.Addr) func(b *ax.Builder) error {
	return func(b *ax.Builder) error {
		b.Const(int64(addr))
		return nil
	}
}

// fromFrame is an address relative to the CFA.
func fromFrame(offset int64) func(b *ax.Builder) error {
	return func(b *ax.Builder) error {
		b.Emit(ax.OpReg, 6)
		b.Const(16 + offset)
		b.Emit(ax.OpAdd)
		return nil
	}
}

func (s *simple) Lookup(name string) (Object, error) {
	if o, ok := s.objects[name]; ok {
		return o, nil
	}
	for _, l := range s.locals {
		switch {
		case l.Name != name:
		case l.Place == ctype.InFrame:
			return Object{Name: name, Type: l.Type, Place: Memory{fromFrame(l.Offset)}}, nil
		case l.Place == ctype.Static:
			return Object{Name: name, Type: l.Type, Place: Memory{fixedAt(l.Addr)}}, nil
		}
	}
	plain := strings.TrimPrefix(strings.TrimPrefix(name, "'values.c'::"), "::")
	if addr, typ, ok := s.program.Global(plain); ok {
		return Object{Name: name, Type: typ, Place: Memory{fixedAt(addr)}, Outer: true}, nil
	}
	if v, ok := s.program.Constant(name); ok {
		return Object{Name: name, Type: ctype.Int(4, v < 0), Place: Constant{encode(uint64(v), 4, binary.LittleEndian)}, Outer: true}, nil
	}
	return Object{}, fmt.Errorf("there is no %s", name)
}

func (s *simple) Register(name string) (Object, error) {
	alias := map[string]string{"pc": "rip", "sp": "rsp", "fp": "rbp"}[name]
	if alias == "" {
		alias = name
	}
	for i, r := range exprtest.Registers {
		switch {
		case r == alias && (name == "pc" || name == "rip"):
			return Object{Name: name, Type: ctype.PointerTo(&ctype.Type{Kind: ctype.Function, Size: 1}, 8), Place: Register{arch.Reg(i), 0, 8}}, nil
		case r == alias && r == "eflags":
			return Object{Name: name, Type: ctype.Int(4, true), Place: Register{arch.Reg(i), 0, 4}}, nil
		case r == alias && (name == "rsp" || name == "rbp" || name == "sp" || name == "fp"):
			return Object{Name: name, Type: ctype.PointerTo(ctype.Void, 8), Place: Register{arch.Reg(i), 0, 8}}, nil
		case r == alias:
			return Object{Name: name, Type: ctype.Int(8, true), Place: Register{arch.Reg(i), 0, 8}}, nil
		case "e"+r[1:] == name && i < 8:
			return Object{Name: name, Type: ctype.Int(4, true), Place: Register{arch.Reg(i), 0, 4}}, nil
		}
	}
	if name == "ah" {
		return Object{Name: name, Type: ctype.Int(1, true), Place: Register{0, 1, 1}}, nil
	}
	if name == "xmm0" {
		return Object{Name: name, Type: ctype.ArrayOf(&ctype.Type{Kind: ctype.Float, Name: "float", Size: 4}, 4), Place: Register{40, 0, 16}}, nil
	}
	return Object{}, fmt.Errorf("there is no $%s", name)
}

func (s *simple) Registers() []arch.Reg {
	var list []arch.Reg
	for i := range exprtest.Registers {
		list = append(list, arch.Reg(i))
	}
	return list
}

func (s *simple) Return() (Object, error) {
	return Object{Name: "$_ret", Type: ctype.PointerTo(ctype.Void, 8), Place: Memory{fromFrame(-8)}}, nil
}

func (s *simple) Type(name string) (*ctype.Type, error) {
	if t, ok := s.program.Named(name); ok {
		return t, nil
	}
	return nil, fmt.Errorf("there is no type %s", name)
}

func (s *simple) Arguments() []string { return []string{"j", "n"} }
func (s *simple) Locals() []string    { return s.names[2:] }
func (s *simple) Names() []string     { return s.names }
func (s *simple) ABI() ctype.ABI      { return ctype.ABI{Pointer: 8, Long: 8} }

func (s *simple) Variable(name string) (trace.VariableNumber, bool) {
	number, ok := map[string]trace.VariableNumber{"count": 2, "total": 3}[name]
	return number, ok
}

func (s *simple) Order() arch.ByteOrder    { return binary.LittleEndian }
func (s *simple) Language() ctype.Language { return ctype.C }
