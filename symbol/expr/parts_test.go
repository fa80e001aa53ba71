package expr

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tracewell/arch"
	"tracewell/ax"
	"tracewell/symbol/container"
	"tracewell/symbol/ctype"
)

// listing is the instructions of code.
func listing(t *testing.T, c code) string {
	t.Helper()
	var b ax.Builder
	if err := c(&b); err != nil {
		t.Fatal(err)
	}
	b.Emit(ax.OpEnd)
	program, err := b.Program()
	if err != nil {
		t.Fatal(err)
	}
	return program.String()
}

// TestPart takes parts of a value in each kind of place. In a register and in a computed value, the first byte lies lowest in one
// byte order and highest in the other.
func TestPart(t *testing.T) {
	const offset, size, whole = 1, 2, 8
	for _, test := range []struct {
		order    arch.ByteOrder
		distance int // from the lowest byte of a register
	}{{binary.LittleEndian, 1}, {binary.BigEndian, 5}} {
		want := Register{3, 2 + test.distance, size}
		if got := part(Register{3, 2, whole}, offset, size, whole, test.order); got != want {
			t.Errorf("%v: of a register %v, want %v", test.order, got, want)
		}
		memory := part(Memory{fixedAt(0x1000)}, offset, size, whole, test.order).(Memory)
		if got, want := listing(t, memory.Emit), listing(t, fixedAt(0x1000).plus(offset)); got != want {
			t.Errorf("%v: of memory %s, want %s", test.order, got, want)
		}
		cell := part(Value{fixedAt(5)}, offset, size, whole, test.order).(Value)
		shifted := fixedAt(5).then(number(uint64(8*test.distance)), op(ax.OpRshUnsigned))
		if got, want := listing(t, cell.Emit), listing(t, shifted); got != want {
			t.Errorf("%v: of a computed value %s, want %s", test.order, got, want)
		}
	}
	bytes := []byte("abc")
	if got, ok := part(Constant{bytes}, offset, size, 3, binary.BigEndian).(Constant); !ok || string(got.Bytes) != "bc" {
		t.Errorf("of a constant %q", got.Bytes)
	}
	if got := part(Constant{bytes[:2]}, offset, size, 3, binary.BigEndian); got != (Absent{"optimized out"}) {
		t.Errorf("of a constant that is too short %v", got)
	}
}

// TestPartOfPieces takes parts of values in pieces of any length: their bits, put together again, are those of the whole.
func TestPartOfPieces(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	type bit struct {
		register arch.Reg
		number   int
	}
	for range 2000 {
		var pieces Pieces
		var bits []bit
		for i := range 1 + r.IntN(4) {
			p := Piece{Register{arch.Reg(i), 0, 8}, 1 + r.IntN(24), r.IntN(24)}
			if r.IntN(2) == 0 {
				p.Bits, p.Offset = p.Bits&^7+8, p.Offset&^7
			}
			pieces = append(pieces, p)
			for k := range p.Bits {
				bits = append(bits, bit{arch.Reg(i), p.Offset + k})
			}
		}
		first := r.IntN(len(bits))
		n := 1 + r.IntN(len(bits)-first)
		var got []bit
		switch place := partOfPieces(pieces, first, n).(type) {
		case Register:
			for k := range 8 * place.Size {
				got = append(got, bit{place.Num, 8*place.Offset + k})
			}
		case Pieces:
			if p := place[0]; len(place) == 1 && p.Offset%8 == 0 && p.Bits%8 == 0 {
				t.Errorf("%v from %d on, %d bits: a list of one piece %v", pieces, first, n, p)
			}
			for _, p := range place {
				for k := range p.Bits {
					got = append(got, bit{p.Place.(Register).Num, p.Offset + k})
				}
			}
		}
		if want := bits[first : first+n]; fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("%v from %d on, %d bits: %v, want %v", pieces, first, n, got, want)
		}
		if more := partOfPieces(pieces, first, len(bits)-first+1); more != (Absent{"optimized out"}) {
			t.Fatalf("more than there is: %v", more)
		}
	}
	if got := partOfPieces(Pieces{{nil, 32, 0}, {Register{0, 0, 8}, 32, 0}}, 0, 32); got != (Absent{"optimized out"}) {
		t.Errorf("a piece that is nowhere: %v", got)
	}
	value := Value{fixedAt(1)}
	if _, whole := partOfPieces(Pieces{{value, 32, 0}, {nil, 32, 0}}, 0, 32).(Value); !whole {
		t.Error("a piece that is a computed value is a list of one")
	}
	if _, list := partOfPieces(Pieces{{value, 32, 4}, {nil, 32, 0}}, 0, 32).(Pieces); !list {
		t.Error("a piece within a computed value is the value")
	}
}

// TestJoinedPieces reads integers of which one piece fills an integer by itself, with its highest bit set, or all that an agent
// expression can read at once.
func TestJoinedPieces(t *testing.T) {
	long := ctype.Int(8, true)
	for _, test := range []struct {
		low, bits int // of the lower piece
	}{{0, 8}, {8, 8}, {0, 9}, {7, 10}, {0, 16}, {0, 17}, {0, 32}, {0, 60}, {4, 60}, {8, 56}} {
		s, p := anywhere()
		p.Registers[0], p.Registers[1] = 0xf9aabbccdd88ee99, 0x0000000000000077
		s.objects["joined"] = Object{Type: long, Place: Pieces{
			{Register{0, 0, 8}, test.bits, test.low}, {Register{1, 0, 8}, 64 - test.bits, 0},
		}}
		low := p.Registers[0] >> test.low & (1<<test.bits - 1)
		want := int64(low | p.Registers[1]<<test.bits)
		comparePlan(t, p, s, "joined", want)
		condition, err := Condition("joined", s)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := p.Run(t, condition); got != want || err != nil {
			t.Errorf("%d bits from %d on: %#x, %v, want %#x", test.bits, test.low, got, err, want)
		}
	}
}

// TestUpcast knows how far a base class lies from its class, of which both have to be pointed to.
func TestUpcast(t *testing.T) {
	derived, base := class()
	pointer := func(elem *ctype.Type) *ctype.Type { return ctype.PointerTo(elem, 8) }
	nothing := &ctype.Type{Kind: ctype.Pointer, Size: 8}
	c := new(compiler)
	for _, test := range []struct {
		from, to *ctype.Type
		offset   int
		ok       bool
	}{
		{pointer(derived), pointer(base), 8, true},
		{pointer(base), pointer(derived), 0, false},
		{pointer(derived), pointer(derived), 0, false},
		{pointer(derived), pointer(intType), 0, false},
		{pointer(derived), nothing, 0, false},
		{nothing, pointer(base), 0, false},
		{nothing, nothing, 0, false},
		{derived, pointer(base), 0, false},
		{pointer(derived), base, 0, false},
		{intType, pointer(base), 0, false},
		{pointer(derived), intType, 0, false},
		{ctype.ArrayOf(derived, 2), pointer(base), 0, false},
		{pointer(derived), ctype.ArrayOf(base, 2), 0, false},
		{pointer(derived), pointer(ctype.RecordOf("own", 4)), 0, false}, // a member of that name, and no base class
	} {
		if offset, ok := c.upcast(nil, test.from, test.to); offset != test.offset || ok != test.ok {
			t.Errorf("from %v to %v: %d, %v", test.from, test.to, offset, ok)
		}
	}
}

// TestElementOf is what a pointer points to, and an int where nothing says so.
func TestElementOf(t *testing.T) {
	char := ctype.Int(1, true)
	for _, test := range []struct{ typ, want *ctype.Type }{
		{ctype.PointerTo(char, 8), char}, {&ctype.Type{Kind: ctype.Pointer, Size: 8}, ctype.Int(4, true)},
		{char, ctype.Int(4, true)}, {ctype.ArrayOf(char, 2), ctype.Int(4, true)},
	} {
		if got := elementOf(value{typ: test.typ}); got == nil || got.Size != test.want.Size || got.Kind != test.want.Kind {
			t.Errorf("of %v: %v", test.typ, got)
		}
	}
}

// TestReached touches an object in memory on the way to a static member of its class, and no other.
func TestReached(t *testing.T) {
	member := at(fixedAt(0x2000), intType)
	for _, test := range []struct {
		object, member Place
		want           code
	}{
		{Memory{fixedAt(0x1000)}, member.place, fixedAt(0x1000).then(op(ax.OpPop)).followed(fixedAt(0x2000))},
		{Register{0, 0, 8}, member.place, fixedAt(0x2000)},
	} {
		got := new(compiler).reached(value{typ: intType, place: test.object}, value{typ: intType, place: test.member})
		if got, want := listing(t, got.place.(Memory).Emit), listing(t, test.want); got != want {
			t.Errorf("by %T: %s, want %s", test.object, got, want)
		}
	}
	gone := value{typ: intType, place: Absent{"optimized out"}}
	if got := new(compiler).reached(member, gone); got.place != gone.place {
		t.Errorf("a member that is nowhere: %v", got.place)
	}
}

// TestMostElements collects as many elements as an array may have, and no more.
func TestMostElements(t *testing.T) {
	s, _ := anywhere()
	for count, says := range map[int]string{0: "no number of elements", 1: "", 1 << 29: "", 1<<29 + 1: "no number of elements"} {
		_, err := Collect(fmt.Sprintf("local@%d", count), s, container.Limits{})
		if (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("%d elements: %v", count, err)
		}
	}
}

// TestNames: a function hides a type of its name only if there is no such type, and a variable does.
func TestNames(t *testing.T) {
	s, _ := anywhere()
	function := &ctype.Type{Kind: ctype.Function}
	s.objects["Derived"], s.objects["main"] = inMemory(0x1000, function), inMemory(0x1000, function)
	s.objects["Base"] = inMemory(0x1000, intType)
	g := grammar{scope: s}
	for name, want := range map[string]bool{"Derived": false, "main": true, "Base": true, "local": true, "nothing": false} {
		if got := g.Value(name); got != want {
			t.Errorf("%s is a value: %v", name, got)
		}
	}
}

// TestSizeless: of what has no size nothing is collected, and the error says why.
func TestSizeless(t *testing.T) {
	s, p := anywhere()
	s.objects["opaque"] = inMemory(0x1000, &ctype.Type{Kind: ctype.Opaque, Name: "struct secret"})
	s.objects["sized"] = inMemory(0x1000, &ctype.Type{Kind: ctype.Opaque, Name: "secret", Size: 4})
	s.objects["open"] = inMemory(0x1000, &ctype.Type{Kind: ctype.Array, Elem: intType, Open: true})
	s.objects["none"] = inMemory(0x1000, ctype.ArrayOf(intType, 0))
	for text, want := range map[string]string{
		"opaque": "error: the type of opaque is not known", "sized": "4", "none": "0",
		"open": "error: the size of int [] is not known",
	} {
		if got := sizes(t, s, p, text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// TestMembersFirst has the members of a class in front of its base classes, of which the virtual one is found all the same.
func TestMembersFirst(t *testing.T) {
	s, p := anywhere()
	s.language = ctype.CPlusPlus
	derived, _ := class()
	fields := slices.Clone(derived.Fields())
	slices.Reverse(fields)
	s.objects["reversed"] = inMemory(0x2000, ctype.RecordOf("Reversed", derived.Size, fields...))
	p.Store(0x2024, "00000000")                                   // the end of object
	if got := sizes(t, s, p, "reversed"); got != "40 8 8 8 8 4" { // of object with the static member "40 4 8 8 8 8 4"
		t.Error(got)
	}
}
