package trace

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/arch"
	"tracewell/rsp"
)

// A full definition, as GDB 13.1 and gdbserver 13.1 wrote it to a trace file.
var (
	workPieces = []string{
		"T4:401247:E:4:0",
		"A4:401247:R40",
		"A4:401247:X0000000F,26000622100222dc16080222040c27",
		"S4:401247:R1fffffffffffffffffffffffffffffffffffff",
		"S4:401247:X0000000F,26000622100222e816080222080c27",
		"Z4:401247:at:0:4:776f726b",
		"Z4:401247:cmd:0:9:636f6c6c656374206e",
		"Z4:401247:cmd:0:10:7768696c652d7374657070696e672034",
		"Z4:401247:cmd:0:12:636f6c6c6563742024726567732c2073756d",
		"Z4:401247:cmd:0:3:656e64",
		"V4:401247:10:121960",
	}
	pushPieces = []string{
		"T2:4011b5:E:0:0:X14,26000622100222e01608021a19162022052b1427",
		"A2:4011b5:R1fffffffffffffffffffffffffffffffffffff",
		"A2:4011b5:M-1,404030,1A",
		"Z2:4011b5:at:0:a:71756575652e633a3233",
		"Z2:4011b5:cond:0:9:6a2d3e6964203e2035",
		"V2:4011b5:24:62040",
	}
)

func upload(t *testing.T, pieces ...string) *Upload {
	t.Helper()
	var u Upload
	for _, text := range pieces {
		p, err := ParsePiece(text)
		if err != nil {
			t.Fatal(err)
		}
		if err := u.Add(p); err != nil {
			t.Fatal(err)
		}
	}
	return &u
}

func TestPiecesRoundTrip(t *testing.T) {
	u := upload(t, append(workPieces[:len(workPieces):len(workPieces)], pushPieces...)...)
	var got []string
	for _, tp := range u.Tracepoints() {
		got = append(append(got, tp.Pieces()...), tp.CountsPiece())
	}
	if diff := cmp.Diff(append(workPieces[:len(workPieces):len(workPieces)], pushPieces...), got); diff != "" {
		t.Errorf("pieces read and printed again (-read +printed):\n%s", diff)
	}
	if keys := u.Undefined(); keys != nil {
		t.Errorf("Undefined() = %v, but all have T pieces", keys)
	}
}

func TestUploadValues(t *testing.T) {
	got := upload(t, workPieces...).Tracepoints()
	want := []Tracepoint{{
		Number: 4, Addr: 0x401247, Enabled: true, Step: 4,
		Actions: []Action{
			{Kind: CollectRegisters, Mask: []byte{0x40}},
			{Kind: CollectExpression, Code: []byte("\x26\x00\x06\x22\x10\x02\x22\xdc\x16\x08\x02\x22\x04\x0c\x27")},
		},
		StepActions: []Action{
			{Kind: CollectRegisters, Mask: []byte("\x1f" + strings.Repeat("\xff", 18))},
			{Kind: CollectExpression, Code: []byte("\x26\x00\x06\x22\x10\x02\x22\xe8\x16\x08\x02\x22\x08\x0c\x27")},
		},
		Source: Source{At: "work", Commands: []string{"collect n", "while-stepping 4", "collect $regs, sum", "end"}},
		Hits:   0x10, Usage: 0x121960,
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestActionRegisters(t *testing.T) {
	a := Action{Kind: CollectRegisters, Mask: []byte{0x82, 0x01}}
	if diff := cmp.Diff([]arch.Reg{0, 9, 15}, a.Registers()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestUploadWithoutDefinition(t *testing.T) {
	u := upload(t, "A7:1000:R01", "V7:1000:1:2", "V7:1000:3:4")
	if diff := cmp.Diff([]Key{{7, 0x1000}}, u.Undefined()); diff != "" {
		t.Errorf("Undefined() (-want +got):\n%s", diff)
	}
	if tp := u.Tracepoints()[0]; tp.Hits != 4 || tp.Usage != 6 {
		t.Errorf("counts %d and %d after two V pieces, want their sums 4 and 6", tp.Hits, tp.Usage)
	}
}

func TestPackets(t *testing.T) {
	tp := upload(t, workPieces...).Tracepoints()[0]
	want := []string{
		"QTDP:4:401247:E:4:0-",
		"QTDP:-4:401247:R40-",
		"QTDP:-4:401247:X0000000F,26000622100222dc16080222040c27-",
		"QTDP:-4:401247:SR1fffffffffffffffffffffffffffffffffffff-",
		"QTDP:-4:401247:X0000000F,26000622100222e816080222080c27",
		"QTDPsrc:4:401247:at:0:4:776f726b",
		"QTDPsrc:4:401247:cmd:0:9:636f6c6c656374206e",
		"QTDPsrc:4:401247:cmd:0:10:7768696c652d7374657070696e672034",
		"QTDPsrc:4:401247:cmd:0:12:636f6c6c6563742024726567732c2073756d",
		"QTDPsrc:4:401247:cmd:0:3:656e64",
	}
	if diff := cmp.Diff(want, tp.Packets()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestParseQTDP(t *testing.T) {
	tests := []struct {
		text string
		want Tracepoint
		more bool
	}{
		{"2:0000000000401131:E:0:0", Tracepoint{Number: 2, Addr: 0x401131, Enabled: true}, false},
		{"a:401131:D:4:ff-", Tracepoint{Number: 10, Addr: 0x401131, Step: 4, Pass: 255}, true},
		{"1:FFFFFFFFFFFFFFFF:E:0:0:F5:X2,2227-",
			Tracepoint{Number: 1, Addr: 1<<64 - 1, Enabled: true, Fast: true, FastLength: 5, Condition: []byte{0x22, 0x27}}, true},
		{"1:10:E:0:0:S", Tracepoint{Number: 1, Addr: 0x10, Enabled: true, Static: true}, false},
		{"1:10:E:0:0:F0", Tracepoint{Number: 1, Addr: 0x10, Enabled: true, Fast: true}, false},
	}
	for _, test := range tests {
		got, more, err := ParseQTDP(test.text)
		if err != nil || more != test.more || !cmp.Equal(got, test.want) {
			t.Errorf("ParseQTDP(%q) = %+v, %v, %v; want %+v, %v", test.text, got, more, err, test.want, test.more)
		}
	}
}

func TestParseQTDPActions(t *testing.T) {
	tests := []struct {
		text     string
		stepping bool
		want     []Action
		more     bool
	}{
		{"2:401131:M-1,404020,4M-1,404030,10X00000001,27", false, []Action{
			{Kind: CollectMemory, Base: Absolute, Offset: 0x404020, Length: 4},
			{Kind: CollectMemory, Base: Absolute, Offset: 0x404030, Length: 16},
			{Kind: CollectExpression, Code: []byte{0x27}}}, false},
		{"2:401131:SR0103-", true, []Action{{Kind: CollectRegisters, Mask: []byte{1, 3}}}, true},
		{"2:401131:SM1A,fffffffffffffff8,4", true,
			[]Action{{Kind: CollectMemory, Base: 26, Offset: 1<<64 - 8, Length: 4}}, false},
		{"2:401131:L", false, []Action{{Kind: CollectStatic}}, false},
		{"2:401131:-", false, nil, true},
		{"2:401131:S-", true, nil, true},
		{"2:401131:", false, nil, false},
	}
	for _, test := range tests {
		got, err := ParseQTDPActions(test.text)
		want := ActionPacket{Key{2, 0x401131}, test.stepping, test.want, test.more}
		if err != nil || !cmp.Equal(got, want) {
			t.Errorf("ParseQTDPActions(%q) = %+v, %v", test.text, got, err)
		}
	}
}

func TestParseVariable(t *testing.T) {
	tests := []struct {
		text string
		want Variable
	}{
		{"1:0:1:74726163655f74696d657374616d70", Variable{Number: Timestamp, Builtin: true, Name: "trace_timestamp"}},
		{"3:fffffffffffffffb:0:6e6567", Variable{Number: 3, Initial: -5, Name: "neg"}},
		{"ffff:7fffffffffffffff:0:", Variable{Number: 0xffff, Initial: 1<<63 - 1}},
	}
	for _, test := range tests {
		got, err := ParseVariable(test.text)
		if err != nil || got != test.want {
			t.Errorf("ParseVariable(%q) = %+v, %v; want %+v", test.text, got, err, test.want)
		}
		if got.String() != test.text {
			t.Errorf("%+v prints as %q, want %q", got, got.String(), test.text)
		}
	}
}

func TestSourceParts(t *testing.T) {
	var s Source
	for _, text := range []string{
		"1:10:at:0:6:6d61", "1:10:at:2:6:696e2e63", // in two parts
		"1:10:cmd:0:3:666f6f", "1:10:cmd:0:6:626172", "1:10:cmd:3:6:62617a",
		"1:10:cond:0:1:78", "1:10:cond:0:1:79", // a condition replaces the one before
	} {
		p, err := ParseQTDPSource(text)
		if err != nil {
			t.Fatal(err)
		}
		if p.String() != text {
			t.Errorf("%q prints as %q", text, p.String())
		}
		if err := s.Add(p); err != nil {
			t.Errorf("adding %q: %v", text, err)
		}
	}
	want := Source{At: "main.c", Cond: "y", Commands: []string{"foo", "barbaz"}}
	if diff := cmp.Diff(want, s); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, p := range []SourcePiece{{Type: SourceAt, Start: 5}, {Type: SourceCommand, Start: 7}, {Type: "else"}} {
		if err := s.Add(p); err == nil {
			t.Errorf("a piece %+v was added to %+v", p, want)
		}
	}
	if diff := cmp.Diff(want, s); diff != "" {
		t.Errorf("failed additions changed the source (-want +got):\n%s", diff)
	}
	if err := new(Source).Add(SourcePiece{Type: SourceCommand, Start: 1}); err == nil {
		t.Error("a command's second part was added without a first")
	}
}

func TestStatus(t *testing.T) {
	untold := Status{Frames: -1, Created: -1, Free: -1, Size: -1}
	with := func(change func(*Status)) Status { s := untold; change(&s); return s }
	tests := []struct {
		text, printed string
		want          Status
	}{
		{"0", "0", untold},
		{"1;tnotrun:0", "1;tnotrun:0", with(func(s *Status) { s.Running, s.Reason = true, ReasonNotRun })},
		{"0;tstop:0", "0;tstop::0", with(func(s *Status) { s.Reason = ReasonStop })},
		{"0;tstop::0", "0;tstop::0", with(func(s *Status) { s.Reason = ReasonStop })},
		{"0;terror:2", "0;terror::2", with(func(s *Status) { s.Reason, s.Tracepoint = ReasonError, 2 })},
		{"0;terror:6469762030:1f", "0;terror:6469762030:1f",
			with(func(s *Status) { s.Reason, s.Tracepoint, s.Description = ReasonError, 31, "div 0" })},
		{"0;tfull:3;tdisconnected:0", "0;tdisconnected:0", with(func(s *Status) { s.Reason = ReasonDisconnected })},
		{"0;tunknown:0;what:;t:9;else:a:b", "0;tunknown:0", with(func(s *Status) { s.Reason = ReasonUnknown })},
		// What gdbserver 13.1 answers, with its stray colon.
		{"0;tstop:627965:0;tframes:b;tcreated:b;tfree:4f9410;tsize:500000;circular:0;disconn:0;" +
			"starttime:451338cf;stoptime:45138676;username:;notes:68656c6c6f:",
			"0;tstop:627965:0;tframes:b;tcreated:b;tfree:4f9410;tsize:500000;" +
				"starttime:451338cf;stoptime:45138676;notes:68656c6c6f",
			Status{Reason: ReasonStop, Description: "bye", Frames: 11, Created: 11, Free: 0x4f9410, Size: 5 << 20,
				StartTime: 0x451338cf, StopTime: 0x45138676, Notes: "hello"}},
		// A line that GDB 13.1 wrote.
		{"0;tpasscount:3;tframes:55;tcreated:55;tfree:4cc3cb;tsize:500000;disconn:1;circular:1;" +
			"starttime:13d79047b;stoptime:13d7927f1;notes:226e;username:616461",
			"0;tpasscount:3;tframes:55;tcreated:55;tfree:4cc3cb;tsize:500000;disconn:1;circular:1;" +
				"starttime:13d79047b;stoptime:13d7927f1;notes:226e;username:616461",
			Status{Reason: ReasonPassCount, Tracepoint: 3, Frames: 85, Created: 85, Free: 0x4cc3cb, Size: 5 << 20,
				Disconnected: true, Circular: true, StartTime: 0x13d79047b, StopTime: 0x13d7927f1, Notes: `"n`, User: "ada"}},
	}
	for _, test := range tests {
		got, err := ParseStatus(test.text)
		if err != nil {
			t.Errorf("ParseStatus(%q): %v", test.text, err)
			continue
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("ParseStatus(%q) (-want +got):\n%s", test.text, diff)
		}
		if got.String() != test.printed {
			t.Errorf("%+v prints as %q, want %q", got, got.String(), test.printed)
		}
	}
}

func TestStatusPrintsNoNumberWithoutMeaning(t *testing.T) {
	s := Status{Reason: ReasonFull, Tracepoint: 4, Description: "x", Frames: -1, Created: -1, Free: -1, Size: -1}
	if got := s.String(); got != "0;tfull:0" {
		t.Errorf("printed as %q, want %q", got, "0;tfull:0")
	}
}

func TestStatusReplyHasAllItems(t *testing.T) {
	for _, test := range []struct {
		status Status
		want   string
	}{
		{Status{Reason: ReasonNotRun, Size: 0x100, Free: 0x100},
			"0;tnotrun:0;tframes:0;tcreated:0;tfree:100;tsize:100;circular:0;disconn:0;starttime:0;stoptime:0;username:;notes:"},
		{Status{Running: true, Reason: ReasonNotRun, Frames: 2, Created: 3, Free: 1, Size: 0x20, Circular: true, Disconnected: true,
			StartTime: 0xabc, StopTime: 0xdef, User: "me", Notes: "n"},
			"1;tnotrun:0;tframes:2;tcreated:3;tfree:1;tsize:20;circular:1;disconn:1;starttime:abc;stoptime:def;username:6d65;notes:6e"},
	} {
		got := test.status.Reply()
		if got != test.want {
			t.Errorf("reply %q, want %q", got, test.want)
		}
		if again, err := ParseStatus(got); err != nil || again != test.status {
			t.Errorf("%q reads as %+v, %v", got, again, err)
		}
	}
}

// parsers are the parsers of this package by name, for what is the same about all of them.
var parsers = map[string]func(string) error{
	"actions":  func(s string) error { _, err := ParseActions(s); return err },
	"QTDP":     func(s string) error { _, _, err := ParseQTDP(s); return err },
	"QTDP:-":   func(s string) error { _, err := ParseQTDPActions(s); return err },
	"QTDPsrc":  func(s string) error { _, err := ParseQTDPSource(s); return err },
	"piece":    func(s string) error { _, err := ParsePiece(s); return err },
	"variable": func(s string) error { _, err := ParseVariable(s); return err },
	"status":   func(s string) error { _, err := ParseStatus(s); return err },
}

func TestSyntaxErrors(t *testing.T) {
	tests := []struct {
		parser, text, want string
	}{
		{"actions", "Q1", `tracepoint action: offset 0: found "Q1", expected one of the letters RMXL`},
		{"actions", "R1g", "tracepoint action: offset 2: found \"g\", expected one of the letters RMXL"},
		{"actions", "M-2,10,4", `tracepoint action: offset 1: found "-2,10,4", expected a hexadecimal number`},
		{"actions", "M-1,10", "tracepoint action: offset 6: found the end, expected ','"},
		{"actions", "X4,2627", "tracepoint action: offset 7: found the end, expected 4 bytes in hexadecimal"},
		{"actions", "X0,", "tracepoint action: offset 3: found the end, expected an agent expression"},
		{"actions", "X1,2727", `tracepoint action: offset 5: found "27", expected one of the letters RMXL`},
		{"actions", "L-", `tracepoint action: offset 1: found "-", expected the end`},
		{"QTDP", "", "QTDP packet: offset 0: found the end, expected a hexadecimal number"},
		{"QTDP", "2:10:Y:0:0", `QTDP packet: offset 5: found "Y:0:0", expected one of the letters ED`},
		{"QTDP", "2:10000000000000000:E:0:0",
			`QTDP packet: offset 2: found "10000000000000000:E:0:0", expected a hexadecimal number up to ffffffffffffffff`},
		{"QTDP", "2:10:E:0:0:Q", `QTDP packet: offset 11: found "Q", expected one of the letters FSX`},
		{"QTDP", "2:10:E:0:0-x", `QTDP packet: offset 11: found "x", expected the end`},
		{"QTDP:-", "2:10:R01-M", `QTDP action packet: offset 9: found "M", expected the end`},
		{"QTDP:-", "2-10", `QTDP action packet: offset 1: found "-10", expected ':'`},
		{"QTDPsrc", "2:10:when:0:1:41", `QTDPsrc packet: offset 5: found "when:0:1:41", expected at, cond or cmd`},
		{"QTDPsrc", "2:10:at:0:2:414243", `QTDPsrc packet: offset 16: found "43", expected the end`},
		{"QTDPsrc", "2:10:at:3:2:41", `QTDPsrc packet: offset 12: found "41", expected the end`},
		{"QTDPsrc", "2:10:at:0:2:414", "QTDPsrc packet: offset 15: found the end, expected 2 bytes in hexadecimal"},
		{"piece", "W2:10", `tracepoint piece: offset 0: found "W2:10", expected one of the letters TASZV`},
		{"piece", "V2:10:5", "tracepoint piece: offset 7: found the end, expected ':'"},
		{"piece", "A2:10:R01-", `tracepoint piece: offset 9: found "-", expected the end`},
		{"variable", "10000:0:0:41", `trace state variable: offset 0: found "10000:0:0:41", expected a hexadecimal number up to ffff`},
		{"variable", "1:0:2:41", `trace state variable: offset 4: found "2:41", expected a hexadecimal number up to 1`},
		{"status", "2", `trace status: offset 0: found "2", expected one of the letters 01`},
		{"status", "0;", "trace status: offset 2: found the end, expected an item key:value"},
		{"status", "0;foo;bar:1", `trace status: offset 2: found "foo;bar:1", expected an item key:value`},
		{"status", "0;tframes:x", `trace status: offset 10: found "x", expected a hexadecimal number`},
		{"status", "0;tframes:1:2", `trace status: offset 11: found ":2", expected the end`},
		{"status", "0;tstop:6:0", `trace status: offset 9: found ":0", expected a hexadecimal digit`},
	}
	for _, test := range tests {
		err := parsers[test.parser](test.text)
		if err == nil || err.Error() != test.want {
			t.Errorf("%s %q:\n got error %v\nwant error %s", test.parser, test.text, err, test.want)
		}
		if !errors.As(err, new(*rsp.SyntaxError)) {
			t.Errorf("%s %q: error %v wraps no *rsp.SyntaxError", test.parser, test.text, err)
		}
	}
}

func TestKeyIsNumberAndAddress(t *testing.T) {
	tp := Tracepoint{Number: 3, Addr: 0x10}
	if got := tp.Key(); got != (Key{3, arch.Addr(0x10)}) {
		t.Errorf("Key() = %v", got)
	}
}
