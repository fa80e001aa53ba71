package exits

import (
	"encoding/binary"
	"reflect"
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
	if _, err := Find(arch.ByName("mips64"), nil, nil); err == nil {
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

// TestFindA64 finds the exits of a function of A64 with a loop, a tail call, a branch to another function under a condition, and a
// signed return.
func TestFindA64(t *testing.T) {
	words := []uint32{
		0xf1000400, // 1000: subs x0, x0, #1
		0x54ffffe1, // 1004: b.ne 1000
		0xb4000040, // 1008: cbz x0, 1010
		0x14000100, // 100c: b 140c
		0xb5000800, // 1010: cbnz x0, 1110
		0xd61f0200, // 1014: br x16
		0xd65f03c0, // 1018: ret
		0xd65f0bff, // 101c: retaa
	}
	var code []byte
	for _, w := range words {
		code = binary.LittleEndian.AppendUint32(code, w)
	}
	machine := arch.ByName("aarch64")
	found, err := Find(machine, []Piece{{0x1000, code}}, func(at, _ arch.Addr) bool { return at == 0x1014 })
	want := Exits{Returns: []arch.Addr{0x1018, 0x101c}, Tails: []arch.Addr{0x100c, 0x1014}, Unclear: []arch.Addr{0x1010}}
	if err != nil || !reflect.DeepEqual(found, want) {
		t.Errorf("found %v, %v, want %v", found, err, want)
	}
	if !IsReturn(machine, code[0x18:]) || IsReturn(machine, code) {
		t.Error("ret is no return, or subs is one")
	}
	if _, err := Find(machine, []Piece{{0x1000, make([]byte, 8)}}, nil); err == nil {
		t.Error("exits are found among zeros")
	}
}
