package tdesc

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// SetUint64 sets the 64 least significant bits of the value, and clears those above. A number that the value is too narrow
// for is cut.
func (v Value) SetUint64(n uint64) { v.store(new(big.Int).SetUint64(n)) }

// Set writes a value given as text: as String and either column of Slot.Columns print it, or
//
//	0x…                        the bits of a value of any kind, floating point and structures included
//	-12                        a number, signed or not
//	true                       a bool
//	NAME                       of an enum's value
//	[ CF N=2 ]                 flags: those that have a name and are not given become 0
//	{1, 2 <repeats 3 times>}   all elements of a vector; what is behind "..." stays as it was
//	{a = 1, b = {2}}           fields of a structure; those not given stay as they were
//	1.5, -inf, nan(0x1)        floating point, rounded to the nearest, to even
//
// A text that the value prints already changes nothing, not even in bits that do not show. After an error all is as it was.
func (v Value) Set(text string) error {
	draft := Value{shape: v.shape, bytes: slices.Clone(v.bytes), order: v.order, bits: v.bits}
	r := reader{rest: text}
	if err := r.value(draft); err != nil {
		return fmt.Errorf("value %q: %w", text, err)
	}
	if r.skip(); r.rest != "" {
		return fmt.Errorf("value %q: found %q behind it", text, r.rest)
	}
	copy(v.bytes, draft.bytes)
	return nil
}

// width is the number of bits of the value.
func (v Value) width() int {
	if v.bits != nil {
		return v.bits.end - v.bits.start + 1
	}
	return 8 * len(v.bytes)
}

// store writes a number of two's complement, cut to the width of the value.
func (v Value) store(n *big.Int) {
	mask := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), uint(v.width())), big.NewInt(1))
	n = new(big.Int).And(n, mask)
	if v.bits != nil {
		whole := unsigned(v.bytes, v.order)
		whole.AndNot(whole, mask.Lsh(mask, uint(v.bits.start)))
		n = whole.Or(whole, n.Lsh(n, uint(v.bits.start)))
	}
	n.FillBytes(v.bytes)
	if !isBig(v.order) {
		slices.Reverse(v.bytes)
	}
}

// reader reads values from text.
type reader struct{ rest string }

func (r *reader) skip() { r.rest = strings.TrimLeft(r.rest, " \t") }

// accept skips blanks and a text if that is what comes.
func (r *reader) accept(text string) bool {
	r.skip()
	rest, ok := strings.CutPrefix(r.rest, text)
	if ok {
		r.rest = rest
	}
	return ok
}

func (r *reader) expect(text string) error {
	if !r.accept(text) {
		return fmt.Errorf("found %.20q, expected %q", r.rest, text)
	}
	return nil
}

// word takes the characters up to one that ends a value.
func (r *reader) word() string {
	r.skip()
	w := r.rest
	if end := strings.IndexAny(w, terminators); end >= 0 {
		w = w[:end]
	}
	w, _, _ = strings.Cut(w, "...")
	r.rest = r.rest[len(w):]
	return w
}

// terminators end a word.
const terminators = " \t,{}[]=<"

// same skips what the value prints now, if that is what comes.
func (r *reader) same(v Value) bool {
	rest, ok := strings.CutPrefix(r.rest, v.String())
	if !ok || rest != "" && !strings.ContainsRune(terminators, rune(rest[0])) && !strings.HasPrefix(rest, "...") {
		return false
	}
	r.rest = rest
	return true
}

// value reads a value of any kind. Floating point, flags and bit fields of strange types have bits that do not show.
func (r *reader) value(v Value) error {
	r.skip()
	switch {
	case strings.HasPrefix(r.rest, "0x"):
		return r.number(v)
	case (v.shape.kind == kindFloat || v.shape.kind == kindFlags || v.bits != nil) && r.same(v):
		return nil
	case v.bits != nil:
		return r.number(v)
	case v.shape.kind == kindVector:
		return r.vector(v)
	case v.shape.kind == kindStruct || v.shape.kind == kindUnion:
		return r.structure(v)
	case v.shape.kind == kindFlags && strings.HasPrefix(r.rest, "["):
		return r.flags(v)
	case v.shape.kind == kindFloat:
		return v.shape.float.parse(r.word(), v.bytes, v.order)
	}
	return r.number(v)
}

// number reads what has no parts.
func (r *reader) number(v Value) error {
	w := r.word()
	n, ok := new(big.Int).SetString(w, 0)
	switch {
	case ok:
	case v.shape.kind == kindBool && (w == "true" || w == "false"):
		n, ok = big.NewInt(0), true
		if w == "true" {
			n.SetInt64(1)
		}
	case v.shape.kind == kindEnum:
		n, ok = v.shape.valueOf(w)
	}
	if !ok {
		return fmt.Errorf("found %q, expected a %s", w, v.shape.kind)
	}
	limit := new(big.Int).Lsh(big.NewInt(1), uint(v.width()))
	if v.bits != nil && v.shape.kind.extends() && n.Cmp(limit) >= 0 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*v.shape.size))) // hexadecimal shows the field widened
	}
	low := new(big.Int).Neg(new(big.Int).Rsh(limit, 1))
	if n.Cmp(limit) >= 0 || n.Cmp(low) < 0 {
		return fmt.Errorf("%s does not fit %d bits", w, v.width())
	}
	v.store(n)
	if v.shape.kind == kindChar || v.shape.kind == kindUnsignedChar {
		r.accept(quoteChar(byte(v.Uint64())))
	}
	return nil
}

func (r *reader) vector(v Value) error {
	if err := r.expect("{"); err != nil {
		return err
	}
	for i := 0; ; {
		if r.accept("...") {
			return r.expect("}")
		}
		if i >= v.Len() {
			break
		}
		if err := r.value(v.Elem(i)); err != nil {
			return fmt.Errorf("element %d: %w", i, err)
		}
		times, err := r.repeats()
		if err != nil || times > v.Len()-i {
			return fmt.Errorf("element %d repeats %d times (%v), but there are %d elements", i, times, err, v.Len())
		}
		for j := 1; j < times; j++ {
			copy(v.Elem(i+j).bytes, v.Elem(i).bytes)
		}
		if i += times; i < v.Len() && !strings.HasPrefix(r.rest, "...") {
			if err := r.expect(","); err != nil {
				return fmt.Errorf("%d elements of %d: %w", i, v.Len(), err)
			}
		}
	}
	return r.expect("}")
}

// repeats reads how often an element comes.
func (r *reader) repeats() (int, error) {
	if !r.accept("<repeats ") {
		return 1, nil
	}
	w := r.word()
	n, err := strconv.Atoi(w)
	if err == nil && n < 1 {
		err = fmt.Errorf("found %q, expected 1 or more", w)
	}
	if err != nil {
		return 0, err
	}
	return n, r.expect("times>")
}

// structure reads fields by name, each behind the one before or anywhere, and one without a name in its place.
func (r *reader) structure(v Value) error {
	if err := r.expect("{"); err != nil {
		return err
	}
	if r.accept("}") {
		return nil
	}
	for i := 0; ; i++ {
		field, err := r.fieldName(v, i)
		if err != nil {
			return err
		}
		if err := r.value(v.Elem(field)); err != nil {
			return fmt.Errorf("field %q: %w", v.shape.members[field].name, err)
		}
		i = field
		if !r.accept(",") {
			return r.expect("}")
		}
	}
}

func (r *reader) fieldName(v Value, next int) (int, error) {
	before := r.rest
	name := r.word()
	if name != "" && r.accept("=") {
		for i, m := range v.shape.members {
			if m.name == name {
				return i, nil
			}
		}
		return 0, fmt.Errorf("there is no field %q", name)
	}
	if r.rest = before; next < v.Len() && v.shape.members[next].name == "" {
		return next, nil
	}
	return 0, fmt.Errorf("found %.20q, expected a field", before)
}

func (r *reader) flags(v Value) error {
	if err := r.expect("["); err != nil {
		return err
	}
	for _, m := range v.members() {
		if m.Name != "" {
			m.SetUint64(0)
		}
	}
	for !r.accept("]") {
		name := r.word()
		field, ok := v.Field(name)
		switch {
		case !ok || name == "":
			return fmt.Errorf("there is no flag %q", name)
		case !r.accept("="):
			field.SetUint64(1)
		default:
			if err := r.number(field); err != nil {
				return fmt.Errorf("flag %q: %w", name, err)
			}
		}
	}
	return nil
}
