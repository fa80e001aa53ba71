package view

import (
	"encoding/binary"
	"strings"
	"testing"

	"tracewell/arch"
	"tracewell/ax"
	"tracewell/tfile"
	"tracewell/trace"
)

func assembled(t testing.TB, text string) []byte {
	t.Helper()
	b, err := ax.Assemble(strings.ReplaceAll(text, "; ", "\n"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestReader reads items of every source, in both byte orders: values of several blocks, texts, and what is not there.
func TestReader(t *testing.T) {
	for _, order := range []arch.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		t.Run(order.String(), func(t *testing.T) {
			h := toyHeader(order)
			h.Tracepoints[0].Actions = []trace.Action{
				{Kind: trace.CollectRegisters, Mask: []byte{5}},
				{Kind: trace.CollectMemory, Base: trace.Absolute, Offset: 0x2000, Length: 4},
				{Kind: trace.CollectMemory, Base: 0, Offset: 4, Length: 2},
				{Kind: trace.CollectMemory, Base: trace.Absolute, Offset: 0x2000, Length: 8},
				{Kind: trace.CollectMemory, Base: trace.Absolute, Offset: 1 << 63, Length: 1 << 62},
				{Kind: trace.CollectExpression, Code: assembled(t, "const16 12288; const8 20; tracenz; end")},
				{Kind: trace.CollectExpression, Code: assembled(t, "const16 8192; trace_quick 4; ref32; const8 3; mul; pop; end")},
				{Kind: trace.CollectExpression, Code: assembled(t, "const16 8192; ref64; const8 1; trace; end")},
				{Kind: trace.CollectExpression, Code: assembled(t, "getv 4; tracev 4; pop; end")},
				{Kind: trace.CollectExpression, Code: []byte{0xff}},
				{Kind: trace.CollectStatic},
			}
			h.Tracepoints = append(h.Tracepoints, trace.Tracepoint{Number: 2, Addr: 0x1000})
			v := newView(t, file(t, h,
				func(b *tfile.Builder) {
					registers(b, 0x1000)
					order.PutUint32(b.Memory(0x2000, 4), 7)
					order.PutUint32(b.Memory(0x2004, 4), 0)
					order.PutUint16(b.Memory(0x80000005, 2), 0xfffe)
					copy(b.Memory(0x3000, 6), "text\x00x")
					b.Variable(4, -3)
					b.Variable(4, -4)
				},
				func(*tfile.Builder) {},
			), nil)
			long := map[string]string{binary.LittleEndian.String(): "7", binary.BigEndian.String(): "30064771072"}[order.String()]
			for i, want := range []string{
				`{"*(int *)0x2000":7,"*(short *)($r0 + 4)":-2,"*(long *)0x2000":` + long +
					`,"(char *)0x3000":"text","*(unsigned int *)0x2000 * 3":21,"$q\"t":-4}`,
				`{}`,
			} {
				frame, err := v.Frame(i, nil)
				if err != nil {
					t.Fatal(err)
				}
				r := v.NewReader()
				r.Set(frame)
				if got := string(r.AppendCollected(nil)); got != want {
					t.Errorf("frame %d: %s\nwant %s", i, got, want)
				}
			}
		})
	}
}
