package ax

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/arch"
)

// samples is bytecode that GDB 13.1 sent for x86-64: an int x at rbp-20, a pointer p there, and variables.
var samples = []struct {
	name, code, text string
	result           int64 // of the top of the stack; 0 if the stack is empty
	effects          []string
}{
	{
		name: "tracepoint condition x != 3",
		code: "260006 2210 02 22dc 1608 02 19 1620 2203 13 0e 27",
		text: "reg 6;const8 16;add;const8 220;ext 8;add;ref32;ext 32;const8 3;equal;log_not;end",
		// x is -2
		result: 1,
	},
	{
		name:    "collect x",
		code:    "260006 2210 02 22dc 1608 02 2204 0c 27",
		text:    "reg 6;const8 16;add;const8 220;ext 8;add;const8 4;trace;end",
		effects: []string{"memory 0xfec+4"},
	},
	{
		name:    "collect *p",
		code:    "260006 2210 02 22dc 1608 02 0d08 1a 2204 0c 27",
		text:    "reg 6;const8 16;add;const8 220;ext 8;add;trace_quick 8;ref64;const8 4;trace;end",
		effects: []string{"memory 0xfec+8", "memory 0x7fff0000fffffffe+4"},
	},
	{
		name:    "collect $tv, variable 2",
		code:    "2c0002 2e0002 29 27",
		text:    "getv 2;tracev 2;pop;end",
		effects: []string{"variable 2 is 40"},
	},
	{
		name:    "teval $tv += 1",
		code:    "2c0002 2201 02 1640 2d0002 27",
		text:    "getv 2;const8 1;add;ext 64;setv 2;end",
		result:  41,
		effects: []string{"set 2 to 41"},
	},
	{
		name:    "collect $_ret",
		code:    "260006 2208 02 2208 0c 27",
		text:    "reg 6;const8 8;add;const8 8;trace;end",
		effects: []string{"memory 0x1008+8"},
	},
}

func TestSamples(t *testing.T) {
	for _, test := range samples {
		t.Run(test.name, func(t *testing.T) {
			w := &world{registers: map[arch.Reg]uint64{6: 0x1000}, variables: map[uint16]int64{2: 40}}
			w.store(0x1000-20, "fe ff ff ff 00 00 ff 7f")
			p, err := Decode(mustHex(test.code))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(mustAssemble(t, test.text).String(), p.String()); diff != "" {
				t.Errorf("disassembly (-want +got):\n%s", diff)
			}
			if flaws := p.Requirements().Flaws; len(flaws) > 0 {
				t.Errorf("flaws in GDB's own code: %v", flaws)
			}
			var m Machine
			end, err := m.run(p, w)
			if err != nil {
				t.Fatal(err)
			}
			if end.height > 0 && m.stack[end.height-1] != test.result || end.height == 0 && test.result != 0 {
				t.Errorf("stack %d, want %d on top", m.stack[:end.height], test.result)
			}
			if diff := cmp.Diff(test.effects, w.log); diff != "" {
				t.Errorf("effects (-want +got):\n%s", diff)
			}
		})
	}
}
