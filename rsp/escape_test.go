package rsp

import (
	"bytes"
	"strings"
	"testing"
)

func TestUnescape(t *testing.T) {
	tests := []struct{ escaped, want, err string }{
		{"", "", ""},
		{"plain", "plain", ""},
		{"}\x03}\x04}]}\n", "#$}*", ""},
		{"a}\x03b", "a#b", ""},
		{"}A", "a", ""},    // any byte may be escaped
		{"}}", "]", ""},    // even the escape itself, unescaped
		{"#$*", "#$*", ""}, // bytes that should have been escaped stand for themselves
		{"ab}", "ab", "offset 3: found the end, expected an escaped byte"},
	}
	for _, tt := range tests {
		got, err := Unescape([]byte("> "), []byte(tt.escaped))
		if string(got) != "> "+tt.want || errorText(err) != tt.err {
			t.Errorf("Unescape(%q) = %q, %q, want %q, %q", tt.escaped, got, errorText(err), "> "+tt.want, tt.err)
		}
		in := []byte(tt.escaped)
		if got, _ := Unescape(in[:0], in); string(got) != tt.want {
			t.Errorf("Unescape(%q) in place = %q, want %q", tt.escaped, got, tt.want)
		}
	}
}

func TestExpandRuns(t *testing.T) {
	tests := []struct{ packed, want, err string }{
		{"", "", ""},
		{"plain", "plain", ""},
		{"0* ", "0000", ""}, // the manual's example
		{"0*!1*\"", "00000111111", ""},
		{"x*~", strings.Repeat("x", 98), ""},
		{"x*~x*\x1e", strings.Repeat("x", 100), ""},
		{"0* * ", "0000000", ""},
		{"}\x03* ", "}\x03\x03\x03\x03", ""}, // the byte as sent is repeated, not the byte it stands for
		{"x*\xff", strings.Repeat("x", 227), ""},
		{"* ", "", `offset 0: found "* ", expected a byte to repeat`},
		{"ab*", "ab", "offset 3: found the end, expected a repeat count"},
		{"ab*\x1d", "ab", `offset 3: found "\x1d", expected a repeat count`},
	}
	for _, tt := range tests {
		got, err := ExpandRuns([]byte("> "), []byte(tt.packed))
		if string(got) != "> "+tt.want || errorText(err) != tt.err {
			t.Errorf("ExpandRuns(%q) = %q, %q, want %q, %q", tt.packed, got, errorText(err), "> "+tt.want, tt.err)
		}
	}
}

// FuzzEscapes checks that undoing never fails on what AppendEscaped wrote, and never panics on anything else.
func FuzzEscapes(f *testing.F) {
	f.Add([]byte("a#b$c}d*e"))
	f.Add([]byte("0*~}* }"))
	f.Fuzz(func(t *testing.T, b []byte) {
		escaped := AppendEscaped(nil, b)
		if i := bytes.IndexAny(escaped, "#$*"); i >= 0 {
			t.Errorf("AppendEscaped left %q at %d of %q", escaped[i], i, escaped)
		}
		if runs, err := ExpandRuns(nil, escaped); err != nil || !bytes.Equal(runs, escaped) {
			t.Errorf("ExpandRuns found runs in %q: %q, %v", escaped, runs, err)
		}
		if plain, err := Unescape(nil, escaped); err != nil || !bytes.Equal(plain, b) {
			t.Errorf("Unescape(AppendEscaped(%q)) = %q, %v", b, plain, err)
		}
		if expanded, err := ExpandRuns(nil, b); err == nil && len(expanded) > 113*len(b)+1 {
			t.Errorf("ExpandRuns made %d bytes of %d", len(expanded), len(b))
		}
		Unescape(b[:0], b)
	})
}

func BenchmarkExpandRuns(b *testing.B) {
	packed := bytes.Repeat([]byte("0*~a5f0* 12"), 200)
	buf, err := ExpandRuns(nil, packed)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(buf)))
	b.ReportAllocs()
	for b.Loop() {
		buf, _ = ExpandRuns(buf[:0], packed)
	}
}

// errorText is the text of err, "" for nil.
func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
