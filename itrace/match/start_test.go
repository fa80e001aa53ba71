package match

import "testing"

// TestCommonStart has flows with boot code of their own in front of what is common, each address a letter.
func TestCommonStart(t *testing.T) {
	for _, test := range []struct{ a, b, start string }{
		{"xyabcdefghij", "pqrsabcdefghij", "a"},
		{"abcdefghij", "abcdefghij", "a"},
		{"xabxabcdefghij", "abcdefghij", "c"},     // a is come to early, and then left
		{"abcxabcdefghij", "abcyabcdefghij", "d"}, // both boot alike at first
		{"xabc", "yabc", "a"},                     // short ones, to their ends
		{"xabc", "yabcd", ""},
		{"abcdefghij", "klmnopqrst", ""},
		{"", "abc", ""},
	} {
		addrs := func(text string) (flow []uint64) {
			for _, c := range text {
				flow = append(flow, uint64(c))
			}
			return flow
		}
		start, ok := commonStart(addrs(test.a), addrs(test.b))
		if ok != (test.start != "") || ok && string(rune(start)) != test.start {
			t.Errorf("%s and %s: %c, %t, want %q", test.a, test.b, rune(start), ok, test.start)
		}
	}
}
