package wire

import (
	"encoding/hex"
	"strconv"

	"tracewell/internal/jsontext"
	"tracewell/tdesc"
	"tracewell/view"
	"tracewell/view/survey"
)

// AppendAlone appends a register of which there are the bytes alone, without a block around them, in hexadecimal.
func AppendAlone(dst []byte, v *view.View, slot *tdesc.Slot, side []byte) []byte {
	alone := *slot
	alone.Offset = 0
	dst, _ = v.AppendRegister(dst, &alone, side)
	return dst
}

// The objects that "show --json --diff" adds. Registers are numbers in hexadecimal, memory is bytes in its order.
type (
	// Changes are what is not the same any more, by name.
	Changes struct {
		Registers map[string]Change[string] `json:"registers"` // in hexadecimal
		Memory    map[string]Change[string] `json:"memory"`    // bytes in hexadecimal, in the order of memory
		Variables map[string]Change[int64]  `json:"variables"` // without $
	}
	// Change is what something was and what it is.
	Change[T any] struct {
		Old T `json:"old"` // in the previous frame
		New T `json:"new"` // in this frame
	}
)

// describeChanges makes the object of changes.
func describeChanges(v *view.View, changes []survey.Change) Changes {
	object := Changes{map[string]Change[string]{}, map[string]Change[string]{}, map[string]Change[int64]{}}
	for _, c := range changes {
		switch {
		case c.Register != nil:
			hexadecimal := func(side []byte) string { return string(AppendAlone(nil, v, c.Register, side)) }
			object.Registers[c.Name] = Change[string]{hexadecimal(c.Old), hexadecimal(c.New)}
		case c.Item != nil && !c.Item.InMemory():
			number := func(side []byte) int64 { n, _ := v.Integer(side); return int64(n) }
			object.Variables[c.Name[1:]] = Change[int64]{number(c.Old), number(c.New)}
		default:
			object.Memory[c.Name] = Change[string]{hex.EncodeToString(c.Old), hex.EncodeToString(c.New)}
		}
	}
	return object
}

// AppendChanges appends the members that --diff adds to the object of a frame, with a comma in front: since, the number of the
// frame before, and changed; both are null for the first frame of a tracepoint.
func AppendChanges(dst []byte, v *view.View, since int, changes []survey.Change, ok bool) ([]byte, error) {
	if !ok {
		return append(dst, `,"since":null,"changed":null`...), nil
	}
	dst = strconv.AppendInt(append(dst, `,"since":`...), int64(since), 10)
	return jsontext.Append(append(dst, `,"changed":`...), describeChanges(v, changes))
}
