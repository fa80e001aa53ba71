package expr

import (
	"errors"
	"testing"

	"tracewell/internal/cexpr"
)

// FuzzCompile: whatever an expression is, it has a value, none, or an *Error that points into it; and its normal form means
// the same.
func FuzzScalar(f *testing.F) {
	for _, text := range handPicked {
		f.Add(text)
	}
	for _, text := range []string{"q->next[1].first", "{char[4]}0x1000", "(array@1)[0][7]", "x ? p : q", "&q->high", "sizeof(int[3])", "'\\x'"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		w := sample()
		e, err := CompileScalar(text, w)
		if err != nil {
			var wrong *Error
			if !errors.As(err, &wrong) || wrong.Start < 0 || wrong.Start > len(text) || wrong.End > len(text) || wrong.Error() == "" {
				t.Fatalf("%q: %#v", text, err)
			}
			return
		}
		value, ok := e.Eval(w)
		again, err := CompileScalar(cexpr.Normal(text), w)
		if err != nil {
			return // a name that was two words, or a - -b
		}
		if same, known := again.Eval(w); known != ok || ok && same.Bits != value.Bits {
			t.Fatalf("%q is %v (%v), %q is %v (%v)", text, value, ok, cexpr.Normal(text), same, known)
		}
	})
}
