package jsontext

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// commanding is every character that a terminal may obey or that turns text around.
func commanding() (all []rune) {
	for r := rune(0); r < 0x20; r++ {
		all = append(all, r)
	}
	for r := rune(0x7f); r < 0xa0; r++ {
		all = append(all, r)
	}
	// UAX #9: the implicit marks, the embeddings and overrides, the isolates.
	return append(all, 0x61c, 0x200e, 0x200f, 0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x2066, 0x2067, 0x2068, 0x2069)
}

func TestEveryCommandIsEscaped(t *testing.T) {
	var object bytes.Buffer
	for _, r := range commanding() {
		text := "a" + string(r) + "ü😀</b>"
		encoded := AppendString(nil, text)
		if strings.ContainsRune(string(encoded), r) {
			t.Errorf("%U is written as it is: %s", r, encoded)
		}
		var back string
		if err := json.Unmarshal(encoded, &back); err != nil || back != text {
			t.Errorf("%s: %q, %v", encoded, back, err)
		}
		if !strings.HasSuffix(string(encoded), `ü😀</b>"`) {
			t.Errorf("%s: what harms nobody is escaped", encoded)
		}
		object.Reset()
		if err := Write(&object, map[string]any{text: []string{text}}, "  "); err != nil {
			t.Fatal(err)
		}
		if r != '\n' && strings.ContainsRune(object.String(), r) {
			t.Errorf("%U: %s", r, &object)
		}
	}
}

func TestNothingOfWhatCannotBeWritten(t *testing.T) {
	var b bytes.Buffer
	if err := Write(&b, map[string]any{"a": 1, "b": func() {}}, ""); err == nil || b.Len() > 0 {
		t.Errorf("%v, and %q", err, &b)
	}
	if b, err := Append([]byte("x"), func() {}); err == nil || string(b) != "x" {
		t.Errorf("%v, and %q", err, b)
	}
}

// FuzzAppendString has any bytes come back, but for those that are not UTF-8.
func FuzzAppendString(f *testing.F) {
	for _, seed := range []string{"", "plain", `"\/<>&`, "\x00\x1f\x7f\u0080\u009b\u00a0", "\u202e\u2028\u2029\u2066", "\xff\xc2", "😀", "\xc2\x9b\x9b"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, s []byte) {
		encoded := AppendString([]byte("x"), s)
		var back string
		if err := json.Unmarshal(encoded[1:], &back); err != nil || back != strings.ToValidUTF8(string(s), "\ufffd") && utf8.Valid(s) {
			t.Fatalf("%q became %s: %v", s, encoded, err)
		}
		if strings.ContainsFunc(string(encoded), Escaped) {
			t.Fatalf("%q became %q", s, encoded)
		}
	})
}
