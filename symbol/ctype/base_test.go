package ctype

import "testing"

// TestBaseBeyondObject has a base class that by its type is larger than the object, as one with virtual base classes at its
// end: what is missing is filled with zeros, up to a limit.
func TestBaseBeyondObject(t *testing.T) {
	object := &Value{Type: RecordOf("Derived", 8), Bytes: []byte{1, 2, 3, 4, 5, 6, 7, 8}}
	v := Value{Type: object.Type, Bytes: object.Bytes, whole: object}
	for _, test := range []struct{ size, at, want int }{
		{4, 4, 4}, {8, 0, 8}, {9, 0, 9}, {8, 4, 8},
		{8 + mostRead, 0, 8 + mostRead}, {9 + mostRead, 0, 8}, {4 + mostRead, 4, 4 + mostRead},
	} {
		base := v.base(RecordOf("Base", test.size), test.at)
		if len(base.Bytes) != test.want || base.at != test.at || base.whole != object || base.Bytes[0] != byte(1+test.at) {
			t.Errorf("%d bytes at %d: %d bytes at %d", test.size, test.at, len(base.Bytes), base.at)
		}
	}
	if len(object.Bytes) != 8 || cap(object.Bytes) != 8 {
		t.Error("the object has grown")
	}
}
