package request

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/arch"
	"tracewell/rsp"
	"tracewell/trace"
)

// sample is a form and values for it, whatever their type.
type sample struct {
	form AnyForm
	try  func(t *testing.T, r *rand.Rand)
}

// of checks that every value is read again as it was written, and that the packet is found by its form.
func of[A any](f *Form[A], make func(r *rand.Rand) A) sample {
	return sample{f, func(t *testing.T, r *rand.Rand) {
		want := make(r)
		packet := f.Append(nil, want)
		found, args := Find(packet)
		if found != AnyForm(f) {
			t.Fatalf("%q is found as %v, want %s", packet, found, f.Prefix)
		}
		got, err := f.Parse(string(args))
		if err != nil {
			t.Fatalf("%q of %+v: %v", packet, want, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%q (-written +read):\n%s", packet, diff)
		}
	}}
}

// pick chooses among values around boundaries.
func pick[T any](values ...T) func(r *rand.Rand) T {
	return func(r *rand.Rand) T { return values[r.IntN(len(values))] }
}

var (
	number  = pick[uint64](0, 1, 0xf, 0x10, math.MaxInt32, math.MaxUint32, 1<<32, math.MaxInt64, 1<<63, math.MaxUint64)
	address = func(r *rand.Rand) arch.Addr { return arch.Addr(number(r)) }
	small   = pick(0, 1, 9, 10, 0xff, 0x100, math.MaxInt32)
	sig     = pick(0, 1, 5, 0xf, 0x10, MaxSignal)
	on      = pick(false, true)
	text    = pick("", "a", "NAME=VALUE", "\x00\xff", "}#$*:;,", strings.Repeat("x", 300), "E01", "-1", "cmds:")
	code    = pick([]byte{0x27}, []byte{0x22, 0, 0x27}, bytes.Repeat([]byte{0xe0}, 300))
	offset  = pick[int64](0, 1, math.MaxUint32, math.MaxInt64)
	thread  = pick(
		rsp.Thread{}, rsp.Thread{TID: 1}, rsp.Thread{TID: rsp.AllThreads}, rsp.Thread{TID: math.MaxInt32},
		rsp.Thread{Multiprocess: true}, rsp.Thread{PID: 1, TID: 2, Multiprocess: true},
		rsp.Thread{PID: 0x91, TID: rsp.AllThreads, Multiprocess: true},
		rsp.Thread{PID: rsp.AllThreads, TID: rsp.AllThreads, Multiprocess: true},
	)
	none = func(*rand.Rand) None { return None{} }
)

func data(r *rand.Rand) []byte {
	if s := text(r); s != "" {
		return []byte(s)
	}
	return nil
}

func list[T any](r *rand.Rand, least int, item func(*rand.Rand) T) (all []T) {
	for range least + r.IntN(4) {
		all = append(all, item(r))
	}
	return all
}

func region(r *rand.Rand) Extent { return Extent{address(r), number(r)} }
func memory(r *rand.Rand) Memory { return Memory{region(r), data(r)} }
func maybe(r *rand.Rand) MaybeProcess {
	return pick(MaybeProcess{}, MaybeProcess{0, true}, MaybeProcess{maxPID, true})(r)
}
func trackpoint(r *rand.Rand) trace.Key {
	return trace.Key{Number: trace.Number(small(r)), Addr: address(r)}
}
func signalList(r *rand.Rand) []int { return list(r, 0, sig) }
func annex(r *rand.Rand) string {
	return pick("", "target.xml", "91", "start=1;prev=2;lmid=0", "a:b:c", ":")(r)
}
func anyPart(r *rand.Rand) Part { return Part{annex(r), number(r), number(r)} }
func resumption(r *rand.Rand) Resumption {
	return pick(Resumption{}, Resumption{Addr: address(r), Moves: true})(r)
}

func withSignal(r *rand.Rand) Resumption {
	s := resumption(r)
	s.Signal = sig(r)
	return s
}

func oneAction(r *rand.Rand) Action {
	a := Action{Verb: "cCsSrt"[r.IntN(6)], All: on(r)}
	if a.Verb == 'C' || a.Verb == 'S' {
		a.Signal = sig(r)
	}
	if a.Verb == 'r' {
		a.Start, a.End = address(r), address(r)
	}
	if !a.All {
		a.Thread = thread(r)
	}
	return a
}

func anyBreakpoint(r *rand.Rand) Breakpoint {
	b := Breakpoint{Kind: pick(0, 1, 4, 255)(r), Addr: address(r), Length: small(r), Conditions: list(r, 0, code)}
	if b.Commands = list(r, 0, code); len(b.Commands) > 0 {
		b.Persistent = on(r)
	}
	return b
}

func anyDefinition(r *rand.Rand) Definition {
	k := trackpoint(r)
	t := trace.Tracepoint{Number: k.Number, Addr: k.Addr, Enabled: on(r), Step: number(r), Pass: number(r), Static: on(r)}
	if t.Fast = on(r); t.Fast {
		t.FastLength = small(r)
	}
	if on(r) {
		t.Condition = code(r)
	}
	return Definition{t, on(r)}
}

func anyActions(r *rand.Rand) trace.ActionPacket {
	return trace.ActionPacket{Key: trackpoint(r), Stepping: on(r), More: on(r), Actions: list(r, 0, func(r *rand.Rand) trace.Action {
		return pick(
			trace.Action{Kind: trace.CollectRegisters, Mask: []byte{3, 0xff}},
			trace.Action{Kind: trace.CollectMemory, Base: trace.Absolute, Offset: number(r), Length: number(r)},
			trace.Action{Kind: trace.CollectMemory, Base: 26, Offset: number(r), Length: number(r)},
			trace.Action{Kind: trace.CollectExpression, Code: code(r)},
			trace.Action{Kind: trace.CollectStatic},
		)(r)
	})}
}

func anySource(r *rand.Rand) trace.SourcePiece {
	s := text(r)
	start := r.IntN(3)
	return trace.SourcePiece{
		Key: trackpoint(r), Type: pick(trace.SourceAt, trace.SourceCond, trace.SourceCommand)(r), Start: start, Total: start + len(s), Text: s,
	}
}

func anyFrame(r *rand.Rand) FrameQuery {
	return pick(
		FrameQuery{Number: number(r)}, FrameQuery{Number: LeaveFrames}, FrameQuery{By: ByPC, Low: address(r)},
		FrameQuery{By: ByTracepoint, Number: uint64(uint32(number(r)))},
		FrameQuery{By: ByRange, Low: address(r), High: address(r)}, FrameQuery{By: ByOutside, Low: address(r), High: address(r)},
	)(r)
}

func anyFeatures(r *rand.Rand) rsp.Features {
	return append(Client(r.IntN(1<<len(clientFeatures))).Features(), rsp.Feature{Name: "xmlRegisters", Mark: rsp.HasValue, Value: "i386"})
}

// samples has values for every form of the table that has arguments.
func samples() []sample {
	all := []sample{
		of(Supported, anyFeatures), of(Symbol, func(r *rand.Rand) SymbolValue {
			return pick(SymbolValue{}, SymbolValue{Name: text(r)}, SymbolValue{true, number(r), text(r)})(r)
		}),
		of(SelectThread, func(r *rand.Rand) Selection { return Selection{pick[byte]('g', 'c')(r), thread(r)} }),
		of(ThreadLocal, func(r *rand.Rand) Local { return Local{thread(r), number(r), address(r)} }),
		of(ReadRegister, func(r *rand.Rand) arch.Reg { return arch.Reg(small(r)) }), of(WriteRegisters, data),
		of(WriteRegister, func(r *rand.Rand) RegisterValue { return RegisterValue{arch.Reg(small(r)), data(r)} }),
		of(MemoryRegion, address), of(Release, address),
		of(Allocate, func(r *rand.Rand) Allocation { return Allocation{number(r), on(r), on(r), on(r)} }),
		of(ReadMemory, region), of(ReadMemoryBinary, region), of(Checksum, region), of(WriteMemory, memory),
		of(WriteMemoryBinary, memory), of(SearchMemory, func(r *rand.Rand) Search { return Search{region(r), data(r)} }),
		of(WriteSiginfo, func(r *rand.Rand) ObjectWrite { return ObjectWrite{number(r), data(r)} }),
		of(Resume, func(r *rand.Rand) []Action { return list(r, 1, oneAction) }),
		of(Continue, resumption), of(Step, resumption), of(ContinueWith, withSignal), of(StepWith, withSignal),
		of(Run, func(r *rand.Rand) Program { return Program{text(r), list(r, 0, text)} }), of(Restart, number),
		of(CatchSyscalls, func(r *rand.Rand) Syscalls {
			return pick(Syscalls{}, Syscalls{On: true, Numbers: list(r, 0, small)})(r)
		}),
		of(InsertBreak, anyBreakpoint), of(RemoveBreak, anyBreakpoint),
		of(OpenFile, func(r *rand.Rand) FileOpen { return FileOpen{text(r), number(r), number(r)} }),
		of(ReadFile, func(r *rand.Rand) FileRead { return FileRead{small(r), number(r), offset(r)} }),
		of(WriteFile, func(r *rand.Rand) FileWrite { return FileWrite{small(r), offset(r), data(r)} }),
		of(CloseFile, small), of(StatOpenFile, small), of(Relocated, small),
		of(DefineTracepoint, anyDefinition), of(AddActions, anyActions), of(AddSource, anySource),
		of(DefineVariable, func(r *rand.Rand) trace.Variable {
			return trace.Variable{Number: trace.VariableNumber(r.IntN(1 << 16)), Initial: int64(number(r)), Builtin: on(r), Name: text(r)}
		}),
		of(VariableValue, pick[trace.VariableNumber](0, 1, math.MaxUint16)), of(MarkerAt, address),
		of(ReadOnlyRanges, func(r *rand.Rand) []Range {
			return list(r, 0, func(r *rand.Rand) Range { return Range{address(r), address(r)} })
		}),
		of(BufferSize, pick[int64](-1, 0, 1, math.MaxInt32, 1<<32, math.MaxInt64)), of(SelectFrame, anyFrame),
		of(TraceNotes, func(r *rand.Rand) []Note {
			return list(r, 0, func(r *rand.Rand) Note { return Note{pick("user", "notes", "tstop")(r), text(r)} })
		}),
		of(ReadBuffer, func(r *rand.Rand) BufferPart { return BufferPart{offset(r), number(r)} }),
		of(SaveTrace, text), of(NotRelocated, pick("01", ".no")),
		of(FileResult, pick("0", "17", "-1,4,C", "2;a}")), of(Attached, maybe), of(Detach, maybe),
	}
	for _, f := range []*Form[bool]{Agent, NonStop, ThreadEvents, StartByShell, FixedLayout, DisableASLR, Disconnected,
		CircularBuffer} {
		all = append(all, of(f, on))
	}
	for _, f := range []*Form[int]{KillProcess, Attach, SetFileSystem} {
		all = append(all, of(f, small))
	}
	for _, f := range []*Form[rsp.Thread]{ThreadAlive, ThreadName} {
		all = append(all, of(f, thread))
	}
	for _, f := range []*Form[[]int]{PassSignals, ProgramSignals} {
		all = append(all, of(f, signalList))
	}
	for _, f := range []*Form[trace.Key]{EnableTracepoint, DisableTracepoint, TracepointCounts} {
		all = append(all, of(f, trackpoint))
	}
	for _, f := range []*Form[string]{Monitor, SetVariable, UnsetVariable, WorkingDir, SetStdin, SetStdout, SetStderr,
		StatFile, StatLink, UnlinkFile, ReadLink} {
		all = append(all, of(f, text))
	}
	for _, f := range All {
		switch f := f.(type) {
		case *Form[Part]:
			all = append(all, of(f, anyPart))
		case *Form[None]:
			all = append(all, of(f, none))
		}
	}
	return all
}

// TestWrittenIsRead writes values around every boundary and reads them again. No form is left out.
func TestWrittenIsRead(t *testing.T) {
	tried := make(map[AnyForm]bool)
	for _, s := range samples() {
		tried[s.form] = true
		t.Run(s.form.Describe().Prefix, func(t *testing.T) {
			for seed := range uint64(100) {
				s.try(t, rand.New(rand.NewPCG(seed, 1)))
			}
		})
	}
	for _, f := range All {
		if !tried[f] {
			t.Errorf("nothing is written by the form of %s", f.Describe().Prefix)
		}
	}
}

// TestCanonical holds what is written against packets of GDB (13.1 and 16.3), byte for byte.
func TestCanonical(t *testing.T) {
	for _, packet := range []string{
		"qSupported:multiprocess+;swbreak+;xmlRegisters=i386", "Hgp0.0", "Hg0", "Hc-1", "Hcp1.-1", "Tp1.2", "qAttached:91", "qAttached",
		"vCont;s:p1.1;c", "vCont;C1e:p1.1;c:p1.-1", "vCont;r401000,401004:p91.91", "vCont;t:p1.-1", "C05", "S1e;401000",
		"Z0,401136,1", "Z1,401136,1;X3,220027X3,220127;cmds:1,X3,220127", "z2,404000,8", "m401000,4", "X401000,0:", "X10,3:a}#",
		"P10=0000000000000000", "QPassSignals:e;10;14;17;", "QPassSignals:", "QCatchSyscalls:1;1;e7", "QCatchSyscalls:0",
		"vRun;", "vRun;2f62696e2f6c73;61;;62", "R00", "D;91", "D", "vKill;91", "QTBuffer:size:-1", "QTFrame:ffffffff", "QTFrame:tdp:2",
		"QTFrame:range:401000:402000", "QTNotes:user:6d65;notes:6869;", "QTro:400,500:600,700", "QTDP:1:401136:E:0:0:X3,220027-",
		"QTDP:-1:401136:SM7,0,10X00000001,27-", "QTDPsrc:1:401136:at:0:4:6d61696e", "QTDV:1:0:1:74", "qXfer:features:read:target.xml:0,ffb",
		"qXfer:siginfo:write::0:ab", "vFile:open:2f,0,1c0", "vFile:pread:6,2001f,0", "qSearch:memory:80200000;4;1", "qSymbol::", "qSymbol:401136:6d",
		"qGetTLSAddr:p1.1,10,7ffff7ffe2e0", "qRelocInsn:5", "E01", "QTSave:2f746d70",
	} {
		f, args := Find([]byte(packet))
		if f == nil {
			t.Errorf("%q has no form", packet)
			continue
		}
		if got, err := f.Rewrite(string(args)); err != nil || got != packet {
			t.Errorf("%q is written as %q, %v", packet, got, err)
		}
	}
}

// TestTranscripts reads what GDB sent to stubs, and what the transcripts of package stub send: those that a stub answers by
// something else than a syntax error have to be read here, and none may be written in a way that reads differently.
func TestTranscripts(t *testing.T) {
	files, _ := filepath.Glob("../../stub/testdata/*.txt")
	peers, _ := filepath.Glob("testdata/*.txt")
	if len(files) < 20 || len(peers) < 6 {
		t.Fatalf("%d transcripts of stub, %d of peers", len(files), len(peers))
	}
	read, same := 0, 0
	for _, file := range append(files, peers...) {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(string(content), "\n")
		for i, line := range lines {
			quoted, ok := strings.CutPrefix(line, "> ")
			if !ok {
				continue
			}
			packet, err := strconv.Unquote(`"` + strings.ReplaceAll(quoted, `"`, `\"`) + `"`)
			if err != nil {
				packet = quoted
			}
			f, args := Find([]byte(packet))
			gdb := strings.Contains(file, "testdata/gdb-")
			if f == nil {
				if gdb {
					t.Errorf("%s:%d: %q has no form", file, i+1, packet)
				}
				continue
			}
			plain := string(args)
			if f.Describe().Binary {
				b, err := rsp.Unescape(nil, args)
				if err != nil {
					continue
				}
				plain = string(b)
			}
			written, err := f.Rewrite(plain)
			if err != nil {
				refused := i+1 < len(lines) && (strings.HasPrefix(lines[i+1], "< E") || lines[i+1] == "<")
				if gdb || !refused && f != AnyForm(Symbol) && f != AnyForm(Restart) && f != AnyForm(Relocated) {
					t.Errorf("%s:%d: %q: %v", file, i+1, packet, err)
				}
				continue
			}
			read++
			if written == f.Describe().Prefix+plain {
				same++
			} else if gdb && len(line) < 100 { // longer ones are cut
				t.Errorf("%s:%d: %q is written as %q", file, i+1, packet, written)
			}
			again, rest := Find([]byte(written))
			if again != f {
				t.Errorf("%q is written as %q, which is another packet", packet, written)
			} else if twice, err := f.Rewrite(string(rest)); err != nil || twice != written {
				t.Errorf("%q is written as %q, and that as %q, %v", packet, written, twice, err)
			}
		}
	}
	t.Logf("%d packets were read, %d of them written byte for byte", read, same)
	if read < 1000 {
		t.Errorf("only %d packets were read", read)
	}
}

// FuzzForms reads any packet. What is refused is refused as a syntax error inside the text, and what is read is read as the
// same again when it is written.
func FuzzForms(f *testing.F) {
	for _, form := range All {
		f.Add(form.Describe().Prefix + "1,2:3;p1.2")
	}
	f.Add("Z0,401141,1;X2,2700X1,27;cmds:1,X1,27")
	f.Add("vCont;r1,2:p1.-1;C05;t")
	f.Fuzz(func(t *testing.T, packet string) {
		form, args := Find([]byte(packet))
		if form == nil {
			return
		}
		written, err := form.Rewrite(string(args))
		var syntax *rsp.SyntaxError
		switch {
		case errors.As(err, &syntax) && syntax.Offset <= len(syntax.Text):
			return
		case err != nil:
			t.Fatalf("%q: %v", packet, err)
		}
		again, rest := Find([]byte(written))
		if again == nil {
			t.Fatalf("%q is written as %q, which has no form", packet, written)
		}
		if twice, err := again.Rewrite(string(rest)); err != nil || twice != written {
			t.Errorf("%q is written as %q, and that as %q, %v", packet, written, twice, err)
		}
	})
}

// TestRejects has what no form takes, and what the error says that it expected.
func TestRejects(t *testing.T) {
	for packet, expected := range map[string]string{
		"QTDP:1":                `':'`,
		"QTDP:1:2:Q:0:0":        "",
		"QTDP:-1:2":             "",
		"QTDPsrc:1:2:on:0:1:61": "",
		"QTDV:1:0:0:6":          "",
		"vCont;q":               "one of the verbs c, C, s, S, r and t",
		"vCont;":                "one of the verbs c, C, s, S, r and t",
		"QTNotes:other:61;":     "user, notes or tstop",
		"QTFrame:-1x":           "the end",
		"QTFrame:-2":            "a hexadecimal number",
		"QNonStop:2":            "0 or 1",
		"qXfer:auxv:read::1":    `','`,
		"qXfer:auxv:read:0,1":   `':'`,
		"Z0,1":                  `','`,
		"Z0,1,1;cmds:2,X1,0":    "a hexadecimal number up to 1",
		"P0":                    `'='`,
		"m1,2,3":                "the end",
		"M1,2:000":              "a hexadecimal digit",
		"QPassSignals:100":      "a hexadecimal number up to ff",
		"vKill;80000000":        "a hexadecimal number up to 7fffffff",
		"qTV:10000":             "a hexadecimal number up to ffff",
	} {
		form, args := Find([]byte(packet))
		if form == nil {
			t.Errorf("%q has no form", packet)
			continue
		}
		_, err := form.Rewrite(string(args))
		var syntax *rsp.SyntaxError
		if !errors.As(err, &syntax) || expected != "" && syntax.Expected != expected {
			t.Errorf("%q: %v, want %s", packet, err, expected)
		}
	}
}

// TestTransfer makes the form of an object that the table has, and of one that it has not.
func TestTransfer(t *testing.T) {
	part := Part{Annex: "a:b", Offset: 1, Length: 0x20}
	for object, want := range map[string]string{"auxv": ReadAuxv.Text(part), "uib": "qXfer:uib:read:a:b:1,20"} {
		f := Transfer(object)
		if got := f.Text(part); got != want {
			t.Errorf("%s: %q, want %q", object, got, want)
		}
		if got, err := f.Parse("a:b:1,20"); err != nil || got != part {
			t.Errorf("%s: %+v, %v", object, got, err)
		}
	}
}

// TestTable checks that every form of the package is in the table, once.
func TestTable(t *testing.T) {
	seen := make(map[string]bool)
	for _, f := range All {
		g := f.Describe()
		if g.Prefix == "" || seen[g.Prefix] {
			t.Errorf("prefix %q is empty, or there twice", g.Prefix)
		}
		seen[g.Prefix] = true
		if takesNone := reflect.TypeOf(f) == reflect.TypeFor[*Form[None]](); takesNone != (g.Syntax == "") {
			t.Errorf("%s: syntax %q", g.Prefix, g.Syntax)
		}
	}
}

func TestClientFeatures(t *testing.T) {
	for c := range Client(1 << len(clientFeatures)) {
		if got := ClientOf(c.Features()); got != c {
			t.Fatalf("%b is announced as %v, which is %b", c, c.Features(), got)
		}
	}
	if !Client(Multiprocess|SwBreak).Has(SwBreak) || Client(Multiprocess).Has(Multiprocess|SwBreak) {
		t.Error("Has")
	}
}
