package printing

import "testing"

// TestCutCharacters: a text is cut between characters, and never so that the ellipsis stands for but one of them.
func TestCutCharacters(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "abc": "abc", "abcde": "abcde", "äöüßé": "äöüßé", "abcdef": "abcd…", "äöüßéa": "äöüß…", "\xff\xff\xff\xff\xff\xff": "\xff\xff\xff\xff…",
	} {
		if got := string(cutCharacters([]byte("n = "+text), 4, 5)); got != "n = "+want {
			t.Errorf("%q becomes %q", text, got)
		}
	}
}
