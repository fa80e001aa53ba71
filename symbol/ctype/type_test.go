package ctype

import "testing"

// TestEndless: types that are within themselves, which damaged debugging information can have, have an end.
func TestEndless(t *testing.T) {
	pointer := &Type{Kind: Pointer, Size: 8}
	pointer.Elem = pointer
	array := &Type{Kind: Array, Count: 1}
	array.Elem = array
	var record *Type
	record = LateRecord("", 0, func() ([]Field, *Variants) { return []Field{{Type: record}}, nil })
	if _, ok := record.Field("f"); ok {
		t.Error("a member was found")
	}
	for _, typ := range []*Type{pointer, array, record} {
		if text := typ.String(); len(text) > 1000 {
			t.Errorf("the type is %s", text)
		}
	}
}
