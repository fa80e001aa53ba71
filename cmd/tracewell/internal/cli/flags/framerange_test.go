package flags

import "testing"

func TestFrameRange(t *testing.T) {
	for _, test := range []struct {
		text       string
		count      int
		first, end int
		bad        bool
	}{
		{"2:4", 10, 2, 5, false},
		{"2:2", 10, 2, 3, false},
		{":", 10, 0, 10, false},
		{"3:", 10, 3, 10, false},
		{":3", 10, 0, 4, false},
		{"3:99", 10, 3, 10, false},
		{"0:5", 0, 0, 0, false},
		{"10:", 10, 0, 0, true},
		{"1:", 1, 0, 0, true},
		{"4:2", 10, 0, 0, true},
		{"4", 10, 0, 0, true},
		{"", 10, 0, 0, true},
		{"-1:2", 10, 0, 0, true},
		{"a:b", 10, 0, 0, true},
		{"1:2:3", 10, 0, 0, true},
		{"0:99999999999", 10, 0, 0, true},
	} {
		var r FrameRange
		err := r.UnmarshalText([]byte(test.text))
		first, end := 0, 0
		if err == nil {
			first, end, err = r.In(test.count)
		}
		if first != test.first || end != test.end || (err != nil) != test.bad {
			t.Errorf("%q of %d frames: %d to %d, error %v; want %d to %d, error %v",
				test.text, test.count, first, end, err, test.first, test.end, test.bad)
		}
	}
}
