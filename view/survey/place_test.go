package survey

import (
	"strings"
	"testing"

	"tracewell/arch"
	"tracewell/symbol"
)

func symbols(t *testing.T) *symbol.Program {
	t.Helper()
	program, err := symbol.Open("../../tfile/testdata/queue", symbol.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { program.Close() })
	return program
}

func TestPlaces(t *testing.T) {
	table := symbols(t)
	for _, test := range []struct{ text, want string }{
		{"0x4011b5", "0x4011b5"},
		{" 4198837 ", "0x4011b5"},
		{"push", "push"},
		{"*push+95", "push+95"},
		{"push + 0x5f", "push+95"},
		{"queue.c:23", "push+95"},
		{"push+x", `"push+x": the offset "x" is no number`},
		{"pusch", `"pusch": the program has no symbol "pusch", or more than one`},
		{"queue.c:x", `"queue.c:x": the line "x" is no number`},
		{"queue.c:0", `"queue.c:0": the line "0" is no number`},
		{"queue.c:1", "push"},
		{"queue.c:99", `"queue.c:99": the program's debug information has no such line`},
		{"", `"": the program has no symbol "", or more than one`},
	} {
		addrs, err := Places(table, test.text)
		got := ""
		switch {
		case err != nil:
			got = err.Error()
		case len(addrs) != 1:
			t.Errorf("%q: %d places", test.text, len(addrs))
		case strings.HasPrefix(test.want, "0x"):
			got = addrs[0].String()
		default:
			got = table.Describe(addrs[0])
		}
		if got != test.want {
			t.Errorf("%q is %s, want %s", test.text, got, test.want)
		}
	}
	if _, err := Places(nil, "push"); err == nil || err.Error() != `"push": there are no symbols to look it up in` {
		t.Errorf("without symbols: error %v", err)
	}
	if _, err := Places(nil, "queue.c:23"); err == nil || err.Error() != `"queue.c:23": there are no symbols to look it up in` {
		t.Errorf("without symbols: error %v", err)
	}
}

func TestExtent(t *testing.T) {
	table := symbols(t)
	push, _ := table.Symbol("push")
	for _, test := range []struct{ text, want string }{
		{"0x10,0x20", "0x10 0x20"},
		{"16, 16", "0x10 0x10"},
		{"push", push.Addr.String() + " " + (push.Addr + arch.Addr(push.Size) - 1).String()},
		{"push,push+4", push.Addr.String() + " 0x40115a"},
		{"0x20,0x10", `"0x20,0x10": the range ends at 0x10, before it begins at 0x20`},
		{"0x20", `"0x20": want LOW,HIGH or a function`},
		{"nothing", `"nothing": the program has no symbol "nothing", or more than one`},
		{"push,", `"": the program has no symbol "", or more than one`},
		{"queue.c:41,0x5000", `"queue.c:41": it is in 2 places`},
		{"_init", `"_init": the program does not say how long it is: want LOW,HIGH`},
	} {
		low, high, err := Extent(table, test.text)
		got := low.String() + " " + high.String()
		if err != nil {
			if got != "0x0 0x0" {
				t.Errorf("%q is %s, %v", test.text, got, err)
			}
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("%q is %s, want %s", test.text, got, test.want)
		}
	}
}
