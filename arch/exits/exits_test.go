package exits

import (
	"slices"
	"strings"
	"testing"

	"tracewell/arch"
)

// TestFind: return instructions in all their forms, jumps that leave and jumps that stay, and code that cannot be told from data.
func TestFind(t *testing.T) {
	const at = 0x1000
	for name, test := range map[string]struct {
		code            []byte
		returns, tails  []arch.Addr
		unclear, second []arch.Addr  // second: of a piece of its own at 0x2000, which holds a return
		known           [2]arch.Addr // of a jump that is known to be a tail call: its address, and the one behind it
		problem         string
	}{
		"ret":                     {code: []byte{0x90, 0xc3}, returns: []arch.Addr{at + 1}},
		"rep ret":                 {code: []byte{0xf3, 0xc3}, returns: []arch.Addr{at}},
		"bnd ret":                 {code: []byte{0xf2, 0xc3}, returns: []arch.Addr{at}},
		"ret 8":                   {code: []byte{0xc2, 8, 0}, returns: []arch.Addr{at}},
		"two":                     {code: []byte{0x74, 1, 0xc3, 0xc3}, returns: []arch.Addr{at + 2, at + 3}},
		"tail":                    {code: []byte{0xe9, 0, 1, 0, 0}, tails: []arch.Addr{at}},
		"short tail":              {code: []byte{0xeb, 0x70}, tails: []arch.Addr{at}},
		"itself":                  {code: []byte{0xeb, 0xfe}},
		"perhaps":                 {code: []byte{0x0f, 0x84, 0, 1, 0, 0, 0xc3}, returns: []arch.Addr{at + 6}, unclear: []arch.Addr{at}},
		"computed":                {code: []byte{0xff, 0xe0}, unclear: []arch.Addr{at}},
		"known by itself":         {code: []byte{0xff, 0xe0}, known: [2]arch.Addr{at, 0}, tails: []arch.Addr{at}},
		"known by what is behind": {code: []byte{0xff, 0xe0}, known: [2]arch.Addr{0, at + 2}, tails: []arch.Addr{at}},
		"another is known":        {code: []byte{0xff, 0xe0}, known: [2]arch.Addr{at + 2, at}, unclear: []arch.Addr{at}},
		"to its own part":         {code: []byte{0xe9, 0xfb, 0x0f, 0, 0}, second: []arch.Addr{0x2000}, returns: []arch.Addr{0x2000}},
		"no return":               {code: []byte{0x0f, 0x0b}},
		"data":                    {code: []byte{0xc3, 0x06}, problem: "no instruction known at 0x1001"},
		"cut off":                 {code: []byte{0xc3, 0xe8, 0}, problem: "no instruction known at 0x1001"},
		"into another":            {code: []byte{0xeb, 1, 0xb8, 0xc3, 0, 0, 0, 0xc3}, problem: "into the middle"},
	} {
		function := []Piece{{at, test.code}}
		for _, second := range test.second {
			function = append(function, Piece{second, []byte{0xc3}})
		}
		known := func(at, behind arch.Addr) bool { return at == test.known[0] || behind == test.known[1] }
		found, err := Find(arch.AMD64, function, known)
		switch {
		case test.problem != "":
			if err == nil || !strings.Contains(err.Error(), test.problem) {
				t.Errorf("%s: %v", name, err)
			}
		case err != nil || !slices.Equal(found.Returns, test.returns) || !slices.Equal(found.Tails, test.tails) ||
			!slices.Equal(found.Unclear, test.unclear):
			t.Errorf("%s: %+v, %v", name, found, err)
		}
	}
	if _, err := Find(arch.ByName("aarch64"), nil, nil); err == nil {
		t.Error("exits are found on a machine of which nothing is known")
	}
}

// TestIsReturn: only what returns to the caller is a return.
func TestIsReturn(t *testing.T) {
	for code, want := range map[string]bool{"\xc3": true, "\xf3\xc3": true, "\x90": false, "\xe9\x00\x00\x00\x00": false, "": false} {
		if IsReturn(arch.AMD64, []byte(code)) != want {
			t.Errorf("% x is a return: %v", code, !want)
		}
	}
}
