package arguments

import (
	"net/url"
	"testing"
)

func TestNumbers(t *testing.T) {
	for _, c := range []struct {
		text  string
		int64 int64
		int   int
		index int
		wrong [3]string // the errors of Int64, Int and Index
	}{
		{text: "0"},
		{text: "2", int64: 2, int: 2, index: 2},
		{text: "3", int64: 3, int: 3, wrong: [3]string{2: "there is no n 3: there are 3"}},
		{text: "-1", int64: -1, int: -1, wrong: [3]string{2: "there is no n -1: there are 3"}},
		{text: "", int: 7, wrong: [3]string{0: `n: "" is no number`, 2: `n: "" is no number`}},
		{text: "0x1", wrong: [3]string{`n: "0x1" is no number`, `n: "0x1" is no number`, `n: "0x1" is no number`}},
		{text: "9223372036854775808", wrong: [3]string{
			`n: "9223372036854775808" is no number`, `n: "9223372036854775808" is no number`, `n: "9223372036854775808" is no number`,
		}},
	} {
		args := url.Values{"n": {c.text}}
		a, err0 := Int64(args, "n")
		b, err1 := Int(args, "n", 7)
		i, err2 := Index(args, "n", 3)
		if a != c.int64 || b != c.int || i != c.index {
			t.Errorf("%q is %d, %d and %d", c.text, a, b, i)
		}
		for k, err := range []error{err0, err1, err2} {
			if (err == nil) != (c.wrong[k] == "") || err != nil && err.Error() != c.wrong[k] {
				t.Errorf("%q: error %d is %v, not %q", c.text, k, err, c.wrong[k])
			}
		}
	}
}
