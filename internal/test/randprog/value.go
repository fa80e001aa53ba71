package randprog

import (
	"fmt"
	"math/big"
)

// edges are the powers of two around which numbers are chosen: a byte, two and four of them, with and without a sign.
var edges = []uint{0, 1, 3, 7, 8, 15, 16, 31, 32, 63, 64, 100, 127}

// number chooses a number of so many bits, mostly near an edge.
func (g *generator) number(bits int, signed bool) *big.Int {
	n := new(big.Int).Lsh(big.NewInt(1), pick(g, edges))
	n.Add(n, big.NewInt(int64(g.IntN(5)-2)))
	switch g.IntN(8) {
	case 0, 1:
		n.Neg(n)
	case 2:
		n.SetUint64(g.Uint64())
	case 3: // a byte or two of which the highest bit is set
		n.SetInt64(pick(g, []int64{200, 128, 255, 40000, 60000, 65535, 3000000000, 4294967295}))
	}
	return wrap(n, bits, signed)
}

// wrap is what a field of so many bits makes of a number.
func wrap(n *big.Int, bits int, signed bool) *big.Int {
	all := new(big.Int).Lsh(big.NewInt(1), uint(bits))
	n = new(big.Int).Mod(n, all)
	if signed && n.Bit(bits-1) == 1 {
		n.Sub(n, all)
	}
	return n
}

// value chooses a value for a scalar, of bits bits if it is a bit-field: how the program writes it, what GDB prints, and how C
// writes it in a condition.
func (g *generator) value(t *typ, bits int) (source, want, test string) {
	switch t.kind {
	case float:
		text := pick(g, []string{"0.5", "-1.25", "3.75", "40000", "-0.0625"})
		if text == "40000" {
			return text + ".0", text, ""
		}
		return text, text, ""
	case pointer:
		n := uint64(0x1000) << g.IntN(40)
		if g.language == Rust {
			return fmt.Sprintf("%#x as %s", n, t.name), fmt.Sprintf("%#x", n), fmt.Sprintf("== %#x", n)
		}
		return fmt.Sprintf("(%s)%#xul", t.name, n), fmt.Sprintf("%#x", n), fmt.Sprintf("== (void *)%#x", n)
	case boolean:
		if g.chance(2) {
			return "true", "true", "== 1"
		}
		return "false", "false", "== 0"
	case enumeration:
		return g.enumerator(t, bits)
	case variants:
		source, want = g.variant(t)
		return source, want, ""
	}
	n := g.number(bits, t.signed)
	if t.bits > 64 {
		return g.wide(t, n), n.String(), ""
	}
	return g.literal(t, n), n.String(), "== " + conditional(n)
}

// enumerator chooses one of the values of an enumeration that a bit-field has room for, or another one.
func (g *generator) enumerator(t *typ, bits int) (source, want, test string) {
	for range 4 {
		v := pick(g, t.values)
		if wrap(v.value, bits, t.signed).Cmp(v.value) != 0 {
			continue
		}
		name := v.name
		if t.scoped || g.language == Rust {
			name = t.name + "::" + v.name
		}
		return name, v.name, "== " + conditional(v.value)
	}
	if g.language == Rust { // which knows no others
		v := t.values[0]
		return t.name + "::" + v.name, v.name, "== " + conditional(v.value)
	}
	n := g.number(min(bits, 1), false) // C++ lets only small ones into every enumeration
	return fmt.Sprintf("(%s)%d", t.name, n), "", "== " + conditional(wrap(n, bits, t.signed))
}

// literal is how the program writes a number of at most 64 bits.
func (g *generator) literal(t *typ, n *big.Int) string {
	if g.language == Rust {
		return fmt.Sprintf("%#xu64 as %s", wrap(n, 64, false), t.name)
	}
	return fmt.Sprintf("(%s)%#xull", t.name, wrap(n, 64, false))
}

// wide is how the program writes one of more.
func (g *generator) wide(t *typ, n *big.Int) string {
	all := wrap(n, 128, false)
	low, high := wrap(all, 64, false), new(big.Int).Rsh(all, 64)
	if g.language == Rust {
		return fmt.Sprintf("%#xu128 as %s", all, t.name)
	}
	return fmt.Sprintf("(%s)((unsigned __int128)%#xull << 64 | %#xull)", t.name, high, low)
}

// conditional is how a condition of C writes a number.
func conditional(n *big.Int) string {
	if n.IsInt64() && n.Int64() == -1<<63 {
		return "(-9223372036854775807 - 1)"
	}
	return n.String()
}
