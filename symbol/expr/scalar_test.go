package expr

import (
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"tracewell/arch"
	"tracewell/internal/cexpr"
	"tracewell/symbol/ctype"
)

// collected is Operands and Values: names with values, and memory.
type collected struct {
	names  map[string]collectedValue
	order  []string
	memory map[uint64]uint64 // eight bytes each
	lacked []int
}

type collectedValue struct {
	typ       *ctype.Type
	bits      uint64
	addr      uint64
	available bool
}

func (w *collected) Operand(name string) (Operand, bool) {
	for i, n := range w.order {
		if n == name {
			return Operand{ID: i, Type: w.names[n].typ, Place: w.names[n].addr != 0}, true
		}
	}
	return Operand{}, false
}

func (w *collected) Type(name string) (*ctype.Type, bool) {
	if name == "struct pair" {
		return pair, true
	}
	return nil, false
}

func (w *collected) Names() []string       { return w.order }
func (w *collected) ABI() ctype.ABI        { return ctype.ABI{Pointer: 8, Long: 8} }
func (w *collected) Order() arch.ByteOrder { return binary.LittleEndian }

func (w *collected) Value(id int) (uint64, bool) {
	n := w.names[w.order[id]]
	return n.bits, n.available
}

func (w *collected) Address(id int) (uint64, bool) {
	n := w.names[w.order[id]]
	return n.addr, n.available
}

func (w *collected) Memory(addr uint64, size int) (uint64, bool) {
	word, ok := w.memory[addr&^7]
	if !ok || addr&7+uint64(size) > 8 {
		return 0, false
	}
	return word >> (8 * (addr & 7)) & (1<<(8*size) - 1), true
}

func (w *collected) Lacks(leaf int) { w.lacked = append(w.lacked, leaf) }

// pair is struct pair { int first; struct { unsigned char low, high; }; unsigned flags : 3; struct pair *next; }.
var pair = func() *ctype.Type {
	inner := ctype.RecordOf("", 2, ctype.Field{Name: "low", Type: ctype.Int(1, false)},
		ctype.Field{Name: "high", Offset: 1, Type: ctype.Int(1, false)})
	var t *ctype.Type
	t = ctype.LateRecord("struct pair", 16, func() ([]ctype.Field, *ctype.Variants) {
		return []ctype.Field{
			{Name: "first", Type: ctype.Int(4, true)},
			{Offset: 4, Type: inner},
			{Name: "flags", Offset: 4, Type: ctype.Int(4, false), Bits: 3, Shift: 16},
			{Name: "delta", Offset: 4, Type: ctype.Int(4, true), Bits: 3, Shift: 16},
			{Name: "next", Offset: 8, Type: ctype.PointerTo(t, 8)},
		}, nil
	})
	return t
}()

// derived has a virtual base class of type int, as far from it as the table in front of 0x3018 says, and a member of its own.
var derived = ctype.RecordOf("class Derived", 16, ctype.Field{Name: "base", Type: ctype.Int(4, true), Virtual: true, VTable: -8},
	ctype.Field{Name: "own", Offset: 8, Type: ctype.Int(2, false)})

// reference is an int &.
var reference = &ctype.Type{Kind: ctype.Pointer, Size: 8, Reference: true, Elem: ctype.Int(4, true)}

// sample has a value of each integer type, and some that are not available.
func sample() *collected {
	w := &collected{names: make(map[string]collectedValue), memory: map[uint64]uint64{
		0x1000: 0x8877665544332211, 0x1008: 0x1000, 0x2000: 0x00050201_fffffffe, 0x2008: 0x2000,
		0x3000: 0x3018, 0x3008: 0x77665544_33224433, 0x3010: 8, 0x3018: 0, 0x4000: 0x9000,
	}}
	add := func(name string, typ *ctype.Type, bits, addr uint64) {
		w.order = append(w.order, name)
		w.names[name] = collectedValue{typ, bits, addr, true}
	}
	add("c", ctype.Int(1, true), 0xfe, 0)
	add("uc", ctype.Int(1, false), 0xfe, 0)
	add("s", ctype.Int(2, true), 0x8000, 0)
	add("us", ctype.Int(2, false), 0xfffe, 0)
	add("i", ctype.Int(4, true), 0xfffffff9, 0)
	add("u", ctype.Int(4, false), 3_000_000_000, 0)
	add("l", ctype.Int(8, true), 1<<63+5, 0)
	add("ul", ctype.Int(8, false), 1<<63+5, 0)
	add("x", ctype.Int(4, true), 5, 0)
	add("zero", ctype.Int(4, true), 0, 0)
	add("p", ctype.PointerTo(ctype.Int(2, false), 8), 0x1000, 0)
	add("q", ctype.PointerTo(pair, 8), 0x2000, 0)
	add("pair", pair, 0, 0x2000)
	add("array", ctype.ArrayOf(ctype.Int(1, false), 8), 0, 0x1000)
	add("j->id", ctype.Int(4, true), 7, 0)
	add("$rip", ctype.PointerTo(ctype.Void, 8), 0x401131, 0)
	add("real", &ctype.Type{Kind: ctype.Float, Name: "double", Size: 8}, 0, 0x1000)
	add("d", cexpr.Double, math.Float64bits(2.75), 0)
	add("f", cexpr.Float, uint64(math.Float32bits(0.1)), 0)
	add("derived", derived, 0, 0x3000)
	add("orphan", derived, 0, 0x4000)
	add("alias", reference, 0x2000, 0)
	add("blur", cexpr.Double, 0, 0)
	w.names["blur"] = collectedValue{typ: cexpr.Double}
	add("gone", ctype.Int(4, true), 0, 0)
	w.names["gone"] = collectedValue{typ: ctype.Int(4, true)}
	add("lost", pair, 0, 1)
	w.names["lost"] = collectedValue{typ: pair, addr: 1}
	return w
}

// TestUnavailable: what is not available makes unavailable what is computed of it, unless the rest decides.
func TestUnavailable(t *testing.T) {
	for text, want := range map[string]string{
		"gone":                     "unavailable: gone",
		"gone + 1 == gone":         "unavailable: gone",
		"gone || 1":                "1",
		"1 || gone":                "1",
		"gone || 0":                "unavailable: gone",
		"gone && 0":                "0",
		"x == 5 && gone":           "unavailable: gone",
		"x == 4 && gone":           "0",
		"!(gone && 0)":             "1",
		"gone ? 1 : 1":             "unavailable: gone",
		"x ? 3 : gone":             "3",
		"zero ? 3 : gone":          "unavailable: gone",
		"x / zero":                 "unavailable: x/zero (division by zero)",
		"x % 0 || 1":               "1",
		"gone / zero":              "unavailable: gone, gone/zero (division by zero)",
		"x / gone":                 "unavailable: gone",
		"*(int *)0x1ffc":           "unavailable: *(int*)0x1ffc",
		"*(int *)gone":             "unavailable: gone",
		"lost.first":               "unavailable: lost",
		"q->next->next->first":     "-2",
		"q->next[1].first":         "unavailable: q->next[1].first",
		"gone, 1":                  "error: found ,, expected an operator or the end",
		"sizeof gone":              "4",
		"gone == 1 || j -> id > 5": "1",
	} {
		w := sample()
		if got := outcome(w, text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// outcome evaluates an expression, and says what came of it.
func outcome(w *collected, text string) string {
	e, err := CompileScalar(text, w)
	if err != nil {
		first, _, _ := strings.Cut(err.Error(), "\n")
		return "error: " + first
	}
	value, ok := e.Eval(w)
	if ok {
		return value.String()
	}
	var lacks []string
	for _, leaf := range w.lacked {
		if name := e.Leaves()[leaf]; len(lacks) == 0 || lacks[len(lacks)-1] != name {
			lacks = append(lacks, name)
		}
	}
	return "unavailable: " + strings.Join(lacks, ", ")
}

// TestScalarPlaces is about memory: pointers, members, indexes, casts.
func TestScalarPlaces(t *testing.T) {
	for text, want := range map[string]string{
		"*p":                               "8721",  // 0x2211
		"p[1]":                             "17459", // 0x4433
		"1[p]":                             "17459",
		"*(p + 3)":                         "34935",
		"p + 1":                            "0x1002",
		"p - 1 == (unsigned short *)0xffe": "1",
		"&p[3] - p":                        "3",
		"p":                                "0x1000",
		"&p[2]":                            "0x1004",
		"*(unsigned char *)(p + 1)":        "51",
		"{int} 0x1000":                     "1144201745",
		"{unsigned char}(0x1000+7)":        "136",
		"{char[4]}0x1000 == p":             "1",
		"*0x1000":                          "1144201745",
		"array[7]":                         "136",
		"(array@1)[0][7]":                  "136",
		"(array[2]@3)[1]":                  "68",
		"array + 1":                        "0x1001",
		"*array":                           "17",
		"!array":                           "0",
		"sizeof array":                     "8",
		"sizeof(struct pair *)":            "8",
		"sizeof(struct pair)":              "16",
		"sizeof(int[3])":                   "12",
		"sizeof x":                         "4",
		"pair.first":                       "-2",
		"pair . low":                       "1",
		"q->high":                          "2",
		"q->flags":                         "5",
		"q->delta":                         "-3",
		"q->next == q":                     "1",
		"(*q).first":                       "-2",
		"&q->high":                         "0x2005",
		"(&pair)->first":                   "-2",
		"((struct pair *)0x2000)->low":     "1",
		"j -> id":                          "7",
		"j->id*2":                          "14",
		"$rip == 0x401131":                 "1",
		"$rip + 1":                         "0x401132",
		"*(long *)&real":                   "-8613303245920329199",
		"q->missing":                       "error: struct pair has no member missing",
		"x.y":                              "error: there is no x.y: the type of x has no members that are known",
		"pair":                             "error: pair is of type struct pair, which is no integer",
		"&x":                               "error: x is not in memory and has no address",
		"p + p":                            "error: unsigned short * + unsigned short * means nothing",
		"x - p":                            "error: int - unsigned short * means nothing",
		"x @ 2":                            "error: x is not in memory and has no address",
		"*(struct pear *)p":                "error: there is no type struct pear",
	} {
		if got := outcome(sample(), text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// TestScalarErrors looks at whole messages.
func TestScalarErrors(t *testing.T) {
	for text, want := range map[string]string{
		"x > 3 && $ripp == 1": `there is no $ripp
  x > 3 && $ripp == 1
           ^~~~~
did you mean $rip?`,
		"x = 3": `= changes what was recorded
  x = 3
    ^
to compare, write ==`,
		"x >": `found the end, expected a value
  x >
     ^`,
		"x > 3)": `found ), expected an operator or the end
  x > 3)
       ^`,
		"f(3)": `a function cannot be called
  f(3)
   ^
nothing runs any more: only what was collected is there`,
		"x == 1.5.2": `1.5.2 is no number
  x == 1.5.2
       ^~~~~`,
		"é == #": `this begins nothing that an expression has
  é == #
       ^`,
		"x == 'ab'": `'ab' is not one character of one byte
  x == 'ab'
       ^~~~`,
		"9z": `9z is no number
  9z
  ^~`,
		"(short char)1": `short char is no integer type
  (short char)1
   ^~~~~`,
		"": `found the end, expected a value
  ` + `
  ^`,
	} {
		_, err := CompileScalar(text, sample())
		if err == nil || err.Error() != want {
			t.Errorf("%q: the message is\n%v\nwant\n%s", text, err, want)
		}
	}
}

// TestScalarDeep: what is nested deeply is refused, and does not take long.
func TestScalarDeep(t *testing.T) {
	for _, text := range []string{
		strings.Repeat("(", 100_000), strings.Repeat("-", 100_000) + "1", strings.Repeat("1+", 100_000) + "1",
		"q" + strings.Repeat("->next", 100_000), strings.Repeat("1?", 100_000), strings.Repeat("*", 100_000) + "p",
		"sizeof " + strings.Repeat("sizeof ", 100_000) + "1",
	} {
		if _, err := CompileScalar(text, sample()); err == nil {
			t.Errorf("%.20s…: no error", text)
		}
	}
}

func TestScalarAllocates(t *testing.T) {
	w := sample()
	e, err := CompileScalar("q->next->first == -2 && p[x - 4] > 3 && (gone || !zero) && u / 7 > 2", w)
	if err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(100, func() { w.lacked = w.lacked[:0]; e.Eval(w) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkScalar(b *testing.B) {
	w := sample()
	for _, text := range []string{"x > 3 && $rip == 0x401131", "(x * 3 + i) % 7 == 1 || u / 7 > 2"} {
		b.Run(text, func(b *testing.B) {
			e, err := CompileScalar(text, &fast{collected: w})
			if err != nil {
				b.Fatal(err)
			}
			env := &fast{collected: w}
			for b.Loop() {
				e.Eval(env)
			}
		})
	}
}

// fast is a collected whose values cost nothing to find.
type fast struct{ *collected }

func (f *fast) Value(id int) (uint64, bool) { return uint64(id), true }

// TestScalarReal is about floating point: what C rounds, converts and refuses.
func TestScalarReal(t *testing.T) {
	for text, want := range map[string]string{
		"(float)0.1 == 0.1":               "0",
		"f == 0.1f":                       "1",
		"f == 0.1":                        "0",
		"f + 1 == 1.1f":                   "1", // of a float and an int comes a float
		"f * 1.0 == 0.1":                  "0",
		"(double)f > 0.1":                 "1",
		"(float)16777217 == 16777216":     "1",
		"16777217.0f == 16777216":         "1",
		"f + 16777216 + 1 == 16777216":    "1",
		"d * 2 == 5.5":                    "1",
		"d - 0.75 == 2":                   "1",
		"d / 2 == 1.375":                  "1",
		"1 / d < 0.364 && 1 / d > 0.363":  "1",
		"d / 0 > 1e308":                   "1", // infinity, and not unavailable
		"d / zero != d / zero":            "0",
		"0.0 / zero == 0.0 / zero":        "0", // not a number
		"!d":                              "0",
		"!0.0":                            "1",
		"!(0.0 || zero)":                  "1",
		"-d < -2.74 && -d > -2.76":        "1",
		"+d == d":                         "1",
		"(long)(d * 100)":                 "275",
		"(long)-d":                        "-2",
		"(unsigned char)259.5":            "3",
		"(signed char)200.0":              "-56",
		"(unsigned long)1e19":             "10000000000000000000",
		"(unsigned)3e9":                   "3000000000",
		"(_Bool)0.5":                      "1",
		"(_Bool)0.0":                      "0",
		"ul * 1.0 > 9.2e18":               "1",
		"l * 1.0 < -9.2e18":               "1",
		"u + 0.5 > 3e9":                   "1",
		"i + 0.5 == -6.5":                 "1",
		"1.5 && 0.25":                     "1",
		"d ? 1 : 2":                       "1",
		"0.0 ? 1 : 2":                     "2",
		"(x ? 1.5 : 2) * 2 == 3":          "1",
		"(zero ? 1.5f : 2) == 2":          "1",
		"(zero ? 1.5 : f) == 0.1f":        "1",
		"sizeof(d + f)":                   "8",
		"sizeof(f + x)":                   "4",
		"sizeof(1.0)":                     "8",
		"sizeof(1.0f)":                    "4",
		"sizeof 'a'":                      "4",
		"0x1p3 == 8 && 0x1.8p1f == 3":     "1",
		"1e2 == 100 && 2E-1 < 0.21":       "1",
		"real > 0":                        "0", // the bytes at its address make a negative number
		"*&real != 0":                     "1",
		"*(double *)0x1008 < 1e-300":      "1",
		"*(float *)&x":                    "error: x is not in memory and has no address",
		"(long)*(float *)0x2004 == 0":     "1",
		"blur + 1 > 0":                    "unavailable: blur",
		"blur && 0":                       "0",
		"blur || x":                       "1",
		"*(double *)0x1ffc == 1":          "unavailable: *(double*)0x1ffc",
		"1.5 + *(int *)0x1ffc + blur > 0": "unavailable: *(int*)0x1ffc, blur",
		"d":                               "error: d is of type double, which is no integer",
		"d & 1":                           "error: double & int means nothing",
		"1 % d":                           "error: int % double means nothing",
		"d << 1":                          "error: d is of type double, which is no integer",
		"1 << d":                          "error: d is of type double, which is no integer",
		"~d":                              "error: d is of type double, which is no integer",
		"p[d]":                            "error: d is of type double, which is no integer",
		"*d":                              "error: d is of type double, which is no integer",
		"p + d":                           "error: unsigned short * + double means nothing",
		"d - p":                           "error: double - unsigned short * means nothing",
		"(int *)d":                        "error: double cannot be converted to int *",
		"(struct pair)x":                  "error: int cannot be converted to struct pair",
		"1.5.2 > 0":                       "error: 1.5.2 is no number",
		"0x1.8 > 0":                       "error: 0x1.8 is no number",
		"1_0.5 > 0":                       "error: 1_0.5 is no number",
	} {
		if got := outcome(sample(), text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// TestScalarAsGDB is about what GDB takes and C does not, or not where memory is meant.
func TestScalarAsGDB(t *testing.T) {
	for text, want := range map[string]string{
		"q.first":                        "-2",
		"pair->first":                    "-2",
		"(pair@1)->first":                "-2",
		"q.next.next->delta":             "-3",
		"sizeof(array@x)":                "40",
		"(array[2]@x)[1]":                "68",
		"&(*$rip) == $rip":               "1",
		"$rip - p":                       "4194609", // in the units of the left pointer
		"p - $rip":                       "-2097304",
		"*$rip":                          "error: *$rip is of type void, which is no integer",
		"(_Bool)256 + (_Bool)0":          "1",
		"derived.base":                   "857883699",
		"derived.own":                    "17459",
		"(&derived)->base + gone":        "unavailable: gone",
		"orphan.base":                    "unavailable: orphan.base",
		"lost.flags":                     "unavailable: lost",
		"((struct pair *)0x5000)->flags": "unavailable: ((struct pair*)0x5000)->flags",
		"(int)((struct pair *)0x5000)->first + (int)gone": "unavailable: ((struct pair*)0x5000)->first, gone",
		"alias":                 "-2",
		"alias + 1":             "-1",
		"&alias == &pair.first": "1",
	} {
		if got := outcome(sample(), text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// TestScalarLeaves: each part that may lack is listed once, in the order of the expression, whether it is evaluated or not.
func TestScalarLeaves(t *testing.T) {
	s, err := CompileScalar("gone > 3 || q->next->first == gone || (int)*p / x && 7 / 2", sample())
	if err != nil {
		t.Fatal(err)
	}
	want := "gone; q; q->next; q->next->first; p; *p; x; (int)*p/x (division by zero)"
	if got := strings.Join(s.Leaves(), "; "); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if s.Type() != ctype.Int(4, true) {
		t.Errorf("its type is %v", s.Type())
	}
}

func TestTypeOf(t *testing.T) {
	for text, want := range map[string]string{
		"pair": "struct pair", "&pair": "struct pair *", "array@2": "unsigned char [2][8]", "q->low": "unsigned char", "d": "double",
		"q->missing": "", "nobody": "", "x +": "", "x + uc": "int", "gone ? ul : x": "unsigned long",
	} {
		got, ok := TypeOf(text, sample())
		if ok != (want != "") || ok && got.String() != want {
			t.Errorf("%s: %v (%v), want %s", text, got, ok, want)
		}
	}
}

// narrow is a machine whose pointers and longs have 4 bytes.
type narrow struct{ *collected }

func (narrow) ABI() ctype.ABI { return ctype.ABI{Pointer: 4, Long: 4} }

// TestScalarNarrow: pointers wrap around at their size.
func TestScalarNarrow(t *testing.T) {
	w := sample()
	w.order = append(w.order, "high")
	w.names["high"] = collectedValue{ctype.PointerTo(ctype.Int(4, true), 4), 0xfffffffc, 0, true}
	for text, want := range map[string]uint64{
		"high + 1": 0, "high - high": 0, "(int *)0 - 1": 0xfffffffc, "sizeof high": 4, "sizeof 1l": 4, "high + 1 < high": 1,
	} {
		s, err := CompileScalar(text, narrow{w})
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if v, ok := s.Eval(w); !ok || v.Bits != want {
			t.Errorf("%s: %#x (%v), want %#x", text, v.Bits, ok, want)
		}
	}
}
