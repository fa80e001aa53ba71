package view

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/arch"
	"tracewell/ax"
	"tracewell/symbol/ctype"
	"tracewell/tfile"
	"tracewell/trace"
)

// TestStateText words every state of a run, with and without what the status says beyond it.
func TestStateText(t *testing.T) {
	for _, test := range []struct {
		status trace.Status
		want   string
	}{
		{trace.Status{Running: true}, "running"},
		{trace.Status{Running: true, Reason: trace.ReasonStop, Description: "enough"}, "running"},
		{trace.Status{}, "not running"},
		{trace.Status{Description: "a note"}, "not running: a note"},
		{trace.Status{Reason: trace.ReasonUnknown}, "stopped for an unknown reason"},
		{trace.Status{Reason: trace.ReasonNotRun}, "no run yet"},
		{trace.Status{Reason: trace.ReasonStop, Description: "a\nnote"}, `stopped by tstop: a\nnote`},
		{trace.Status{Reason: trace.ReasonFull}, "stopped because the trace buffer was full"},
		{trace.Status{Reason: trace.ReasonDisconnected}, "stopped because GDB left"},
		{trace.Status{Reason: trace.ReasonPassCount, Tracepoint: 3}, "stopped by the pass count of tracepoint 3"},
		{trace.Status{Reason: trace.ReasonError, Tracepoint: 4, Description: "division by zero"},
			"stopped by an error at tracepoint 4: division by zero"},
	} {
		if got := StateText(&test.status); got != test.want {
			t.Errorf("%+v: %q, want %q", test.status, got, test.want)
		}
	}
}

// TestActionText words actions of every kind.
func TestActionText(t *testing.T) {
	v := newView(t, file(t, toyHeader(binary.LittleEndian)), nil)
	mask := func(bits ...int) trace.Action {
		b := make([]byte, 3)
		for _, bit := range bits {
			b[2-bit/8] |= 1 << (bit % 8)
		}
		return trace.Action{Kind: trace.CollectRegisters, Mask: b}
	}
	memory := func(base arch.Reg, offset, length uint64) trace.Action {
		return trace.Action{Kind: trace.CollectMemory, Base: base, Offset: offset, Length: length}
	}
	for _, test := range []struct {
		action trace.Action
		want   string
	}{
		{mask(), "no register"},
		{mask(1), "pc"},
		{mask(0, 2, 9), "r0, w, register 9"},
		{mask(0, 1, 2, 3, 4, 5, 6, 7), "r0, pc, w, register 3, register 4, register 5, register 6, register 7"},
		{mask(0, 1, 2, 3, 4, 5, 6, 7, 8), "9 registers"},
		{memory(trace.Absolute, 0x2000, 1), "1 byte at 0x2000"},
		{memory(0, 0, 4), "4 bytes at r0"},
		{memory(0, 1, 4), "4 bytes at r0+1"},
		{memory(9, 1<<64-20, 4), "4 bytes at register 9-20"},
		{trace.Action{Kind: trace.CollectStatic}, "data of the static marker"},
		{trace.Action{Kind: trace.CollectExpression, Code: assembled(t, "const8 1; end")}, "expression const8 1; end"},
		{trace.Action{Kind: trace.CollectExpression, Code: assembled(t, "const8 0; if_goto 5; end; const8 7; end")},
			"expression const8 0; if_goto 5; 5: end; const8 7; end"},
	} {
		if got := v.ActionText(test.action); got != test.want {
			t.Errorf("%v: %q, want %q", test.action, got, test.want)
		}
	}
}

// TestDisassembly has bytecode with a jump, and some that is none.
func TestDisassembly(t *testing.T) {
	if got := Disassembly(nil); got != "" {
		t.Errorf("of nothing: %q", got)
	}
	if got := Disassembly([]byte{0xff}); !strings.HasPrefix(got, "ff (") {
		t.Errorf("of what is no bytecode: %q", got)
	}
	for op, want := range map[ax.Op]string{ax.OpGoto: "goto 3; 3: end", ax.OpIfGoto: "const8 1; if_goto 5; 5: end"} {
		var b ax.Builder
		end := b.NewLabel()
		if op == ax.OpIfGoto {
			b.Const(1)
		}
		b.Jump(op, end)
		b.Bind(end)
		b.Emit(ax.OpEnd)
		program, err := b.Program()
		if err != nil {
			t.Fatal(err)
		}
		if got := Disassembly(program.Code()); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestByNumber sorts tracepoints by numbers, and those of one number by addresses.
func TestByNumber(t *testing.T) {
	var got []string
	list := []trace.Tracepoint{{Number: 3, Addr: 1}, {Number: 2, Addr: 9}, {Number: 2, Addr: 5}, {Number: 1, Addr: 7}}
	for _, p := range ByNumber(list) {
		got = append(got, fmt.Sprintf("%d:%v", p.Number, p.Addr))
	}
	if diff := cmp.Diff([]string{"1:0x7", "2:0x5", "2:0x9", "3:0x1"}, got); diff != "" {
		t.Error(diff)
	}
}

// TestSplitList keeps the commas of brackets and quotes.
func TestSplitList(t *testing.T) {
	for list, want := range map[string][]string{
		"":                    {""},
		"a, b ,c":             {"a", "b", "c"},
		"f(a, b), c":          {"f(a, b)", "c"},
		"a[b, c], d[(e,f)],g": {"a[b, c]", "d[(e,f)]", "g"},
		"{a,b}, c":            {"{a,b}", "c"},
		`",", ','`:            {`","`, `','`},
		`"(", a`:              {`"("`, "a"},
		`"'", a, '"', b`:      {`"'"`, "a", `'"'`, "b"},
	} {
		if diff := cmp.Diff(want, splitList(list)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", list, diff)
		}
	}
}

// TestOffsetText words distances from a register.
func TestOffsetText(t *testing.T) {
	for offset, want := range map[int64]string{
		0: "$fp", 1: "($fp + 1)", -1: "($fp - 1)", 20: "($fp + 20)", -20: "($fp - 20)", -1 << 63: "($fp - 9223372036854775808)",
	} {
		if got := offsetText("$fp", offset); got != want {
			t.Errorf("%d: %s, want %s", offset, got, want)
		}
	}
}

// TestLastSum finds the constant that code adds, whose sign comes from so many bits, and what is in front of it.
func TestLastSum(t *testing.T) {
	for text, want := range map[string]int64{
		"reg 6; const8 16; add": 16, "reg 6; const8 236; ext 8; add": -20, "reg 6; const16 65000; add": 65000,
		"reg 6; const16 65516; ext 16; add": -20, "reg 6; const64 0xffffffffffffffec; add": -20,
		"reg 6; const64 4611686018427387904; add": 1 << 62, "reg 6; const64 4611686018427387904; ext 64; add": 1 << 62,
		"reg 6; const8 255; ext 64; add": 255, "reg 6; const8 127; ext 7; add": -1,
		"reg 6; const8 16; sub": 0, "const8 16; add": 0, "reg 6; dup; add": 0, "reg 6; reg 7; ext 8; add": 0,
	} {
		program, err := ax.Decode(assembled(t, text+"; end"))
		if err != nil {
			t.Fatal(err)
		}
		var code []ax.Instruction
		for in := range program.Instructions() {
			code = append(code, in)
		}
		access, ok := lastSum(program, code[:len(code)-1], 4)
		if access.offset != want || ok != (want != 0) || ok && (access.size != 4 || string(access.base) != string(program.Code()[:3])) {
			t.Errorf("%s: %d, %v behind % x, want %d", text, access.offset, ok, access.base, want)
		}
	}
}

// TestOwnedText finds the address and the length within a String, whatever lies in front of the vector and of its buffer.
func TestOwnedText(t *testing.T) {
	pointer, length := ctype.PointerTo(ctype.Int(1, false), 8), ctype.Int(8, false)
	inner := ctype.RecordOf("Unique", 8, ctype.Field{Name: "pointer", Type: pointer})
	buffer := ctype.RecordOf("RawVec", 16, ctype.Field{Name: "cap", Type: length}, ctype.Field{Name: "ptr", Offset: 8, Type: inner})
	vector := ctype.RecordOf("Vec", 24, ctype.Field{Name: "buf", Type: buffer}, ctype.Field{Name: "len", Offset: 16, Type: length})
	for _, at := range []int{0, 8} {
		text := ctype.RecordOf("String", at+24, ctype.Field{Name: "vec", Offset: at, Type: vector})
		found, ok := ownedText(text)
		if !ok || found.address.Offset != at+8 || found.length.Offset != at+16 {
			t.Errorf("vector at %d: address at %d, length at %d, %v", at, found.address.Offset, found.length.Offset, ok)
		}
		cut := ctype.RecordOf("String", at+23, ctype.Field{Name: "vec", Offset: at, Type: vector})
		if _, ok := ownedText(cut); ok {
			t.Errorf("vector at %d: a length that is cut off was found", at)
		}
	}
	if _, ok := ownedText(vector); ok {
		t.Error("a text was found in a vector")
	}
}

// TestCollectedRegisters are those that tracepoints ask for, or were selected; all where only frames have some.
func TestCollectedRegisters(t *testing.T) {
	h := toyHeader(binary.LittleEndian)
	frame := func(b *tfile.Builder) { registers(b, 0x1000) }
	ask := func(mask ...byte) {
		h.Tracepoints[0].Actions = nil
		for _, m := range mask {
			h.Tracepoints[0].Actions = append(h.Tracepoints[0].Actions, trace.Action{Kind: trace.CollectRegisters, Mask: []byte{m}})
		}
	}
	names := func(v *View) string {
		slots, err := v.CollectedRegisters()
		if err != nil {
			t.Error(err)
		}
		var names []string
		for _, s := range slots {
			names = append(names, s.Reg.Name)
		}
		return strings.Join(names, " ")
	}
	ask()
	if got := names(newView(t, file(t, h, func(*tfile.Builder) {}), nil)); got != "" {
		t.Errorf("of frames without registers: %s", got)
	}
	if got := names(newView(t, file(t, h, frame), nil)); got != "r0 pc w" {
		t.Errorf("of frames with registers that nobody asks for: %s", got)
	}
	ask(4, 1)
	v := newView(t, file(t, h, frame), nil)
	if got := names(v); got != "r0 w" {
		t.Errorf("of tracepoints that ask for two: %s", got)
	}
	if err := v.Select([]string{"pc"}); err != nil {
		t.Fatal(err)
	}
	if got := names(v); got != "pc" {
		t.Errorf("of one that was selected: %s", got)
	}
}

// TestMachine is that of the description's architecture, or of its registers.
func TestMachine(t *testing.T) {
	for architecture, want := range map[string]*arch.Machine{
		"toy": arch.Unknown, "aarch64": arch.ByName("aarch64"), "i386:x86-64": arch.AMD64, "i386:x64-32": arch.ByName("x32"),
	} {
		h := toyHeader(binary.LittleEndian)
		h.Description = strings.Replace(h.Description, ">toy<", ">"+architecture+"<", 1)
		if got := newView(t, file(t, h), nil).machine(); got != want {
			t.Errorf("%s: %s, want %s", architecture, got.Name, want.Name)
		}
	}
}

// TestLowBytes reads the lowest bytes of a register, as a variable has that is narrower.
func TestLowBytes(t *testing.T) {
	for order, want := range map[arch.ByteOrder][]string{
		binary.LittleEndian: {"", "01", "0100", "010000", "01000080"}, binary.BigEndian: {"", "01", "0001", "000001", "80000001"},
	} {
		v := newView(t, file(t, toyHeader(order), func(b *tfile.Builder) { registers(b, 0x1000) }), nil)
		frame, err := v.Frame(0, nil)
		if err != nil {
			t.Fatal(err)
		}
		r := v.NewReader()
		r.Set(frame)
		slot := v.Layout.ByName("r0")
		for size, text := range want {
			if d, ok := r.lowBytes(slot, size); !ok || fmt.Sprintf("%x", d.Bytes) != text {
				t.Errorf("%v, %d bytes: %x, %v, want %s", order, size, d.Bytes, ok, text)
			}
		}
		if d, ok := r.lowBytes(slot, 5); ok || d.Bytes != nil {
			t.Errorf("%v: more than the register has: %x, %v", order, d.Bytes, ok)
		}
	}
}

// TestSettle finds out by its end what code collects, and how much.
func TestSettle(t *testing.T) {
	for _, test := range []struct {
		code     string
		collects bool
		kind     sourceKind
		size     uint64
	}{
		{"const8 1; end", false, 0, 0},
		{"const8 1; setv 4; pop; end", false, 0, 0},
		{"const8 1; pop; end", true, sourceResult, 8},
		{"const8 1; const8 4; trace; end", true, sourceCode, 4},
		{"const8 1; const16 999; trace; end", true, sourceCode, 999},
		{"const8 1; const64 5; trace; end", true, sourceCode, 5},
		{"const8 1; reg 1; trace; end", true, sourceCode, 0},
		{"const8 1; trace_quick 7; end", true, sourceCode, 7},
		{"const8 1; trace16 700; end", true, sourceCode, 700},
		{"getv 4; tracev 4; pop; end", true, sourceVariable, 0},
	} {
		program, err := ax.Decode(assembled(t, test.code))
		if err != nil {
			t.Fatal(err)
		}
		d := &draft{shape: shapeOf(program)}
		if d.settle(program) != test.collects || d.source.kind != test.kind || d.source.size != test.size {
			t.Errorf("%s: kind %d of %d bytes, want kind %d of %d", test.code, d.source.kind, d.source.size, test.kind, test.size)
		}
		if d.source.kind == sourceVariable && d.source.variable != 4 {
			t.Errorf("%s: variable %d", test.code, d.source.variable)
		}
	}
}
