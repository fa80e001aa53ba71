package expr

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"tracewell/arch"
	"tracewell/ax"
	"tracewell/internal/test/exprtest"
	"tracewell/symbol/container"
	"tracewell/symbol/ctype"
	"tracewell/trace"
)

// listed is a Scope of a list of objects.
type listed struct {
	objects  map[string]Object
	types    map[string]*ctype.Type
	language ctype.Language
	order    arch.ByteOrder
}

func (l *listed) Lookup(name string) (Object, error) {
	if o, ok := l.objects[name]; ok {
		return o, nil
	}
	return Object{}, errors.New("there is no " + name)
}

func (l *listed) Type(name string) (*ctype.Type, error) {
	if t, ok := l.types[name]; ok {
		return t, nil
	}
	return nil, errors.New("there is no type " + name)
}

func (l *listed) Names() []string {
	var names []string
	for name := range l.objects {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (l *listed) Register(name string) (Object, error) {
	return Object{}, errors.New("there is no register " + name)
}

func (l *listed) Variable(name string) (trace.VariableNumber, bool) { return 2, name == "count" }
func (l *listed) Registers() []arch.Reg                             { return []arch.Reg{0, 9} }
func (l *listed) Return() (Object, error) {
	return Object{}, errors.New("the return address is not known")
}
func (l *listed) Length(bound *ctype.Bound) (func(b *ax.Builder) error, error) {
	if bound.Expr == nil {
		return nil, errors.New("optimized out")
	}
	return pushed(uint64(bound.Expr[0])), nil
}
func (l *listed) Arguments() []string      { return l.Names() }
func (l *listed) Locals() []string         { return nil }
func (l *listed) ABI() ctype.ABI           { return ctype.ABI{Pointer: 8, Long: 8} }
func (l *listed) Order() arch.ByteOrder    { return l.order }
func (l *listed) Language() ctype.Language { return l.language }

func (l *listed) Concrete(string) []container.Concrete { return nil }

// fixedAt is code for an address that is known.
func fixedAt(addr arch.Addr) code { return pushed(uint64(addr)) }

// inMemory is an object at an address.
func inMemory(addr arch.Addr, t *ctype.Type) Object {
	return Object{Type: t, Place: Memory{fixedAt(addr)}}
}

// class is struct Derived : Base, virtual Root { int own; Base::value; int &ref; }.
func class() (derived, base *ctype.Type) {
	base = ctype.RecordOf("Base", 8, ctype.Field{Name: "value", Type: intType}, ctype.Field{Name: "own", Offset: 4, Type: intType})
	root := ctype.RecordOf("Root", 4, ctype.Field{Name: "deep", Type: intType})
	reference := &ctype.Type{Kind: ctype.Pointer, Size: 8, Elem: intType, Reference: true}
	derived = ctype.RecordOf("Derived", 40,
		ctype.Field{Name: "Base", Offset: 8, Type: base, Base: true},
		ctype.Field{Name: "Root", Type: root, Base: true, Virtual: true, VTable: -24},
		ctype.Field{Name: "own", Offset: 16, Type: intType},
		ctype.Field{Name: "ref", Offset: 24, Type: reference},
		ctype.Field{Name: "shared", Type: intType, Static: true})
	return derived, base
}

// anywhere is a scope of values in all kinds of places, and the process that has them.
func anywhere() (*listed, *exprtest.Process) {
	derived, base := class()
	two := ctype.RecordOf("struct two", 8, ctype.Field{Name: "low", Type: intType}, ctype.Field{Name: "high", Offset: 4, Type: ctype.Int(4, false)})
	computed := func(b *ax.Builder) error {
		b.Emit(ax.OpReg, 1)
		b.Const(1)
		b.Emit(ax.OpAdd)
		return nil
	}
	text := ctype.RecordOf("string", 16, ctype.Field{Name: "str", Type: ctype.PointerTo(ctype.Int(1, false), 8)},
		ctype.Field{Name: "len", Offset: 8, Type: ctype.Int(8, true)})
	wide := &ctype.Type{Kind: ctype.Integer, Name: "__int128", Size: 16, Signed: true}
	s := &listed{order: binary.LittleEndian, types: map[string]*ctype.Type{"Base": base, "Derived": derived}, objects: map[string]Object{
		"reg":             {Type: intType, Place: Register{0, 0, 4}},
		"high":            {Type: ctype.Int(1, true), Place: Register{0, 1, 1}},
		"packed":          {Type: two, Place: Register{1, 0, 8}},
		"sum":             {Type: intType, Place: Value{computed}},
		"known":           {Type: two, Place: Constant{[]byte{1, 0, 0, 0, 0xfe, 0xff, 0xff, 0xff}}},
		"split":           {Type: two, Place: Pieces{{Register{0, 0, 8}, 32, 0}, {Memory{fixedAt(0x1004)}, 32, 0}}},
		"torn":            {Type: two, Place: Pieces{{Register{0, 0, 8}, 32, 0}, {nil, 32, 0}}},
		"bitty":           {Type: intType, Place: Pieces{{Register{0, 0, 8}, 12, 4}, {Register{1, 0, 8}, 20, 0}}},
		"gone":            {Type: two, Place: Absent{"optimized out"}},
		"object":          inMemory(0x2000, derived),
		"this":            {Type: ctype.PointerTo(derived, 8), Place: Register{2, 0, 8}},
		"alias":           {Type: &ctype.Type{Kind: ctype.Pointer, Size: 8, Elem: derived, Reference: true}, Place: Memory{fixedAt(0x1010)}},
		"value":           {Type: intType, Place: Memory{fixedAt(0x1000)}, Outer: true},
		"local":           inMemory(0x1000, intType),
		"text":            inMemory(0x1020, text),
		"wide":            inMemory(0x1020, wide),
		"Derived::shared": {Type: intType, Place: Memory{fixedAt(0x1004)}},
		"main.total":      inMemory(0x1004, intType),
		"&heap":           {Type: ctype.PointerTo(intType, 8), Place: Memory{fixedAt(0x1030)}},
	}}
	p := &exprtest.Process{Registers: map[arch.Reg]uint64{0: 0x1122334455667788, 1: 0xfffffffe_00000005, 2: 0x2000}}
	p.Store(0x1000, "01000000 ffffffff 0000000000000000 0020000000000000 0000000000000000 "+ // 0x1000 to 0x101f
		"4030000000000000 0300000000000000 0010000000000000")
	p.Store(0x2000, "0040000000000000 0700000008000000 0900000000000000 0010000000000000 0a000000")
	p.Store(0x3040, "616263646566")
	p.Store(0x4000-24, "2000000000000000")
	return s, p
}

// TestPlaces evaluates over values in all kinds of places: as conditions, and as they are shown.
func TestPlaces(t *testing.T) {
	for text, want := range map[string]int64{
		"reg":                            0x55667788,
		"high":                           0x77,
		"packed.low":                     5,
		"packed.high":                    0xfffffffe,
		"sum":                            6,
		"known.low":                      1,
		"known.high":                     0xfffffffe,
		"split.low":                      0x55667788,
		"split.high":                     0xffffffff,
		"split.high == 0xffffffff":       1,
		"torn.low":                       0x55667788,
		"bitty":                          0x5778,
		"object.own":                     9,
		"object.value":                   7,
		"object.Base::own":               8,
		"object.deep":                    10,
		"object.ref":                     1,
		"object.ref + 1":                 2,
		"object.shared":                  -1,
		"&object.ref":                    0x1000,
		"alias.own":                      9,
		"alias.deep + alias.ref":         11,
		"sizeof alias":                   40,
		"this->own":                      9,
		"own":                            9,
		"deep":                           10,
		"value":                          7,
		"ref":                            1,
		"shared":                         -1,
		"local":                          1,
		"((Base *)this)->own":            8,
		"static_cast<Base *>(this)->own": 8,
		"(Base *)this":                   0x2008,
		"((Derived *)0x2000)->own":       9,
		"true + true":                    2,
		"main.total":                     -1,
		"heap":                           1,
		"text.len":                       3,
		"(&local)[local]":                -1,
		"text.str[local]":                98,
		"*(text.str + local * 2)":        99,
		"wide ? 1 : 2":                   0,
	} {
		s, p := anywhere()
		if text == "heap" {
			s.language = ctype.Go
		} else {
			s.language = ctype.CPlusPlus
		}
		code, err := Condition(text, s)
		if text == "wide ? 1 : 2" {
			if err == nil {
				t.Errorf("%s was compiled", text)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got, err := p.Run(t, code); err != nil || got != want {
			t.Errorf("%s: %#x (%v), want %#x", text, got, err, want)
		}
		comparePlan(t, p, s, text, want)
		c, err := Collect(text, s, container.Limits{})
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		comparePlan(t, p.Collect(t, Actions(c)), s, text, want)
	}
}

// comparePlan evaluates an expression as it is shown.
func comparePlan(t *testing.T, p *exprtest.Process, s Scope, text string, want int64) {
	t.Helper()
	plan, err := Compile(text, s)
	if err != nil {
		t.Errorf("%s: %v", text, err)
		return
	}
	b, err := plan.Bytes(exprtest.Context{Process: p})
	if err != nil || len(b) != plan.Type.Size {
		t.Errorf("%s: % x, %v", text, b, err)
		return
	}
	if got := int64(plan.Type.Extend(arch.Uint(b, binary.LittleEndian))); got != want {
		t.Errorf("%s: the evaluator gives %d, want %d", text, got, want)
	}
}

// TestWhole has values that are no numbers, and what is collected for them.
func TestWhole(t *testing.T) {
	for text, want := range map[string]string{
		"packed":             "registers 1: 05000000feffffff",
		"known":              ": 01000000feffffff",
		"split":              "registers 0; 4: 88776655ffffffff",
		"bitty":              "registers 0,1: 78570000",
		"text":               "16 8 8 3: 40300000000000000300000000000000",
		"*this":              "registers 2; 40 8 8 8 8 4: error: no such memory",
		"wide":               "16: 40300000000000000300000000000000",
		"torn":               "registers 0: error: <optimized out> in part",
		"local@text.len - 2": "8 4: 01000000",
		"local@-value":       "registers 2; 4: ",
		"local@sum * 100000": "registers 1; 65536: error: no such memory",
		"gone":               "error: gone: optimized out",
		"$_ret":              "error: the return address is not known",
	} {
		s, p := anywhere()
		if got := whole(t, s, p, text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return "error: " + line
}

func whole(t *testing.T, s Scope, p *exprtest.Process, text string) string {
	c, err := Collect(text, s, container.Limits{})
	if err != nil {
		return firstLine(err)
	}
	frame := p.Collect(t, Actions(c))
	got := p.Summary(c.Registers) + ": "
	plan, err := Compile(text, s)
	if err != nil {
		return got + firstLine(err)
	}
	b, err := plan.Bytes(exprtest.Context{Process: frame})
	if err != nil {
		return got + firstLine(err)
	}
	return got + hex.EncodeToString(b)
}

// TestMissing: what a group lacks is told and does not keep the rest from being collected.
func TestMissing(t *testing.T) {
	s, _ := anywhere()
	c, err := Collect("$args", s, container.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	var missing []string
	for _, m := range c.Missing {
		missing = append(missing, m.Name+": "+m.Reason)
	}
	if got := strings.Join(missing, "; "); got != "gone: optimized out" || len(c.Items) != len(s.objects)-1 {
		t.Errorf("missing are %q, there are %d items", got, len(c.Items))
	}
}

// TestBigEndian evaluates over values whose highest byte comes first.
func TestBigEndian(t *testing.T) {
	s, p := anywhere()
	s.order = binary.BigEndian
	two := s.objects["packed"].Type
	s.objects["known"] = Object{Type: two, Place: Constant{[]byte{0, 0, 0, 1, 0, 0, 0, 2}}}
	for text, want := range map[string]int64{"packed.low": -2, "packed.high": 5, "known.high": 2, "split.low": 0x55667788} {
		code, err := Condition(text, s)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got, err := p.Run(t, code); err != nil || got != want {
			t.Errorf("%s: %#x (%v), want %#x", text, got, err, want)
		}
	}
}

// TestEvaluate runs assignments.
func TestEvaluate(t *testing.T) {
	for text, want := range map[string]int64{
		"$count = 5":                   5,
		"$count = $count + 1":          41,
		"$count += 2":                  42,
		"$count -= local * 2":          38,
		"$count *= -1":                 -40,
		"$count /= 7":                  5,
		"$count >>= 2":                 10,
		"$count++":                     41,
		"--$count":                     39,
		"$count = local":               1,
		"$count = object.value":        7,
		"$count = $count = 3":          3,
		"$count = 1, $count += 1":      2,
		"$count = $count++ + ++$count": 82,
		"$count = &object":             0x2000,
	} {
		s, p := anywhere()
		p.Variables = map[uint16]int64{2: 40}
		code, err := Evaluate(text, s)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if _, err := p.Run(t, code); !errors.Is(err, ax.ErrEmptyStack) || p.Variables[2] != want {
			t.Errorf("%s: %d (%v), want %d", text, p.Variables[2], err, want)
		}
	}
}

// FuzzExpressions: whatever is compiled runs without a fault of its own making, and collects what it needs.
func FuzzExpressions(f *testing.F) {
	for _, text := range []string{"local + value * 2", "*(Derived *)0x2000", "reg << 3 >> 1", "high < packed.low || !sum", "sizeof object / 3u", "&object.ref - 1", "(short)reg ? -sum : ~local", "known.high@2", "$count++ + 1", "'f.c'::value", "text.str[1]"} {
		f.Add(text)
	}
	for _, text := range []string{"object.deep", "alias.ref + 1", "$args, $locals, $regs", "split.high", "bitty", "$count += local", "text",
		"/s5 text.str", "((Base *)this)->own", "packed.low ? known.low : torn.low", "wide, gone, main.total", "object.Base::own@3", "(local, $count++)"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, p := anywhere()
		c, err := Collect(text, s, container.Limits{})
		if err != nil {
			var wrong *Error
			if !errors.As(err, &wrong) || wrong.Start < 0 || wrong.Start > len(text) || wrong.End > len(text) || wrong.Error() == "" {
				t.Fatalf("%q: %#v", text, err)
			}
			return
		}
		for _, a := range Actions(c) {
			if a.Kind == trace.CollectExpression {
				runs(t, p, text, a.Code)
			}
		}
		for _, compile := range []func(string, Scope) ([]byte, error){Condition, Evaluate} {
			if code, err := compile(text, s); err == nil {
				runs(t, p, text, code)
			}
		}
		if plan, err := Compile(text, s); err == nil && plan.Type.Size < 1<<16 {
			_, _ = plan.Bytes(exprtest.Context{Process: p})
		}
	})
}

// runs checks that bytecode fails by nothing but the target.
func runs(t *testing.T, p *exprtest.Process, text string, code []byte) {
	t.Helper()
	program, err := ax.Decode(code)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	if flaws := program.Requirements().Flaws; len(flaws) > 0 {
		t.Fatalf("%q: %v", text, flaws)
	}
	p.Variables = map[uint16]int64{}
	var m ax.Machine
	if err := m.Run(program, silent{p}); err != nil && !errors.Is(err, ax.ErrMemory) && !errors.Is(err, ax.ErrDivideByZero) {
		t.Fatalf("%q: %v", text, fmt.Errorf("%v: %w", program, err))
	}
}

// silent is a process of which nothing is noted.
type silent struct{ *exprtest.Process }

func (silent) TraceMemory(arch.Addr, uint64) {}
func (silent) TraceString(arch.Addr, uint64) {}
func (silent) TraceVariable(uint16)          {}

// TestValues has what is printed of values that are references or not whole.
func TestValues(t *testing.T) {
	for text, want := range map[string]string{
		"torn":       "{low = 1432778632, high = <optimized out>}",
		"split":      "{low = 1432778632, high = 4294967295}",
		"object.ref": "@0x1000",
		"packed":     "<unavailable>",
		"known":      "{low = 1, high = 4294967294}",
		"&local":     "0x1000",
		"pair":       "{1, <unavailable>}",
	} {
		s, p := anywhere()
		s.objects["pair"] = inMemory(0x1050, ctype.ArrayOf(intType, 2))
		p.Store(0x1050, "01000000")
		delete(p.Registers, 1)
		plan, err := Compile(text, s)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		got := ctype.Unavailable
		if v, err := plan.Value(exprtest.Context{Process: p}); err == nil {
			got = string(ctype.Printer{Order: s.order}.AppendValue(nil, v))
		}
		if got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
