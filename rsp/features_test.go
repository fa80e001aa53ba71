package rsp

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseFeatures(t *testing.T) {
	tests := []struct {
		text    string
		want    Features
		printed string // "" where it is the text itself
		err     string
	}{
		{text: ""},
		{
			text: "PacketSize=47ff;QTBuffer:size+;multiprocess-;qXfer:features:read?;xmlRegisters=i386,arm",
			want: Features{
				{"PacketSize", HasValue, "47ff"}, {"QTBuffer:size", Supported, ""}, {"multiprocess", Unsupported, ""},
				{"qXfer:features:read", Unsure, ""}, {"xmlRegisters", HasValue, "i386,arm"},
			},
		},
		{text: "a=;b=x+=y", want: Features{{"a", HasValue, ""}, {"b", HasValue, "x+=y"}}},
		{text: ";a+;;b-;", want: Features{{"a", Supported, ""}, {"b", Unsupported, ""}}, printed: "a+;b-"},
		{
			text: "a+;what;b-;+;=x", want: Features{{"a", Supported, ""}, {"b", Unsupported, ""}}, printed: "a+;b-",
			err: `offset 3: found "what;b-;+;=x", expected a feature name and one of + - ? =`,
		},
	}
	for _, tt := range tests {
		got, err := ParseFeatures(tt.text)
		if diff := cmp.Diff(tt.want, got); diff != "" || errorText(err) != tt.err {
			t.Errorf("ParseFeatures(%q): error %q, want %q (-want +got):\n%s", tt.text, errorText(err), tt.err, diff)
		}
		want := tt.printed
		if want == "" {
			want = tt.text
		}
		if got.String() != want {
			t.Errorf("ParseFeatures(%q) prints as %q, want %q", tt.text, got, want)
		}
	}
}

func TestFeaturesLookup(t *testing.T) {
	list := Features{{"a", Supported, ""}, {"b", HasValue, "1"}, {"c", Unsupported, ""}, {"d", Unsure, ""}, {"a", Unsupported, ""}}
	has := map[string]bool{"a": false, "b": true, "c": false, "d": false, "e": false}
	for name, want := range has {
		if got := list.Has(name); got != want {
			t.Errorf("Has(%q) = %v, want %v", name, got, want)
		}
	}
	if got := list.Value("b"); got != "1" {
		t.Errorf("Value of b = %q, want 1", got)
	}
	if f, ok := list.Lookup("d"); !ok || f.Mark != Unsure {
		t.Errorf("Lookup of d = %v, %v", f, ok)
	}
	if _, ok := list.Lookup("e"); ok {
		t.Error("Lookup found a feature that is not there")
	}
}

// FuzzFeatures checks that what was parsed prints as itself.
func FuzzFeatures(f *testing.F) {
	f.Add("PacketSize=47ff;QTBuffer:size+;multiprocess-;xmlRegisters=i386")
	f.Add(";;=x;+;a?;what")
	f.Fuzz(func(t *testing.T, text string) {
		list, _ := ParseFeatures(text)
		again, err := ParseFeatures(list.String())
		if diff := cmp.Diff(list, again); diff != "" || err != nil {
			t.Errorf("%q printed and parsed again: error %v (-first +second):\n%s", text, err, diff)
		}
	})
}
