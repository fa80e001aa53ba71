//go:build linux && amd64

package client

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"encoding/xml"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tracewell/arch"
	"tracewell/internal/test/gdbtest"
	"tracewell/internal/test/testprog"
	"tracewell/internal/test/testtool"
	"tracewell/rsp"
	"tracewell/rsp/reply"
	"tracewell/rsp/request"
	"tracewell/trace"
)

// counted is a connection that counts writes.
type counted struct {
	net.Conn
	writes int
}

func (c *counted) Write(b []byte) (int, error) {
	c.writes++
	return c.Conn.Write(b)
}

// live is a client of a real stub, whose program is stopped.
type live struct {
	*testing.T
	*Client
	conn    *counted
	server  *gdbtest.Server
	pid     int
	symbols map[string]elf.Symbol
	printed string   // by monitor commands
	seen    []string // arguments of account, by frame
}

// calls is how often the program calls account: twice its argument. It has one digit because gdbserver 13.1 sends it in decimal.
const calls = 8

// connect starts the program threads under a server, and the server under a client in all-stop mode with all features.
func connect(t *testing.T, server ...string) *live {
	program := testprog.Build(t, "threads", testprog.Variant{NoPIE: true})
	c := gdbtest.Config{Server: server, Comm: "localhost:0", Command: []string{program.Path, strconv.Itoa(calls / 2)}}
	l := &live{T: t, server: gdbtest.Start(t, c), symbols: map[string]elf.Symbol{}}
	conn, err := net.Dial("tcp", l.server.Address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	l.conn = &counted{Conn: conn}
	l.Client = New(l.conn)
	l.Patience = time.Minute
	l.Console = func(text []byte) { l.printed += string(text) }
	own := request.Multiprocess | request.SwBreak | request.HwBreak
	if err := errors.Join(l.Hello(own.Features()), l.EndAcks()); err != nil {
		t.Fatal(err)
	}
	if !l.noAck {
		t.Error("acknowledgments go on")
	}
	f, err := elf.Open(program.Path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	symbols, err := f.Symbols()
	for _, s := range symbols {
		l.symbols[s.Name] = s
	}
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// ask is a call that has to succeed.
func ask[A, R any](l *live, f *request.Form[A], args A, form *reply.Form[R]) R {
	l.Helper()
	r, err := Do(l.Client, Ask(f, args, form))
	if err != nil {
		l.Fatalf("%s: %v", f.Text(args), err)
	}
	return r
}

// same compares what a stub says with what another source does.
func same[T any](l *live, what string, got, want T) {
	l.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		l.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func (l *live) proc(file string) string { return fmt.Sprintf("/proc/%d/%s", l.pid, file) }

func (l *live) read(file string) []byte {
	l.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		l.Fatal(err)
	}
	return b
}

func (l *live) at(symbol string) arch.Addr { return arch.Addr(l.symbols[symbol].Value) }

// memory is the program's memory as the kernel has it.
func (l *live) memory(at arch.Addr, n int) []byte {
	l.Helper()
	f, err := os.Open(l.proc("mem"))
	if err != nil {
		l.Fatal(err)
	}
	defer f.Close()
	b := make([]byte, n)
	if _, err := f.ReadAt(b, int64(at)); err != nil {
		l.Fatalf("memory at %v: %v", at, err)
	}
	return b
}

// GDB's numbers of registers on x86-64, of 8 bytes each at the beginning of the block.
const (
	rdx, rsi, rdi, rsp64, rip = 3, 4, 5, 7, 16
)

func register(b reply.Block, number int) uint64 {
	return binary.LittleEndian.Uint64(b.Bytes[8*number:])
}

func (l *live) registers() reply.Block {
	l.Helper()
	return ask(l, request.ReadRegisters, request.None{}, reply.Registers)
}

// runTo resumes the program up to a breakpoint.
func (l *live) runTo(at arch.Addr) {
	l.Helper()
	b := request.Breakpoint{Addr: at, Length: 1}
	ask(l, request.InsertBreak, b, reply.OK)
	if err := l.Resume(request.Action{Verb: 'c', All: true}); err != nil {
		l.Fatal(err)
	}
	stop, err := l.AwaitStop(time.Now().Add(time.Minute))
	if err != nil || stop.Kind != 'T' || stop.Number != 5 || stop.Reason != "swbreak" || stop.Thread == nil || stop.Thread.PID != l.pid {
		l.Fatalf("%+v, %v", stop, err)
	}
	ask(l, request.SelectThread, request.Selection{For: 'g', Thread: *stop.Thread}, reply.OK)
	ask(l, request.RemoveBreak, b, reply.OK)
	block := l.registers()
	if pc := register(block, rip); pc != uint64(at) {
		l.Fatalf("the program stopped at %#x, want %v", pc, at)
	}
	// The kernel tells stack pointer and pc of a thread that is in no system call. It is behind the trap instruction there.
	told := fmt.Sprintf("-1 %#x %#x\n", register(block, rsp64), register(block, rip)+1)
	same(l, "registers", told, string(l.read(l.proc(fmt.Sprintf("task/%d/syscall", stop.Thread.TID)))))
	for _, r := range stop.Registers {
		same(l, fmt.Sprint("register ", r.Number, " of the stop reply"), r.Hex, string(reply.Registers.Append(nil, block.Part(8*int(r.Number), 8))))
	}
}

// TestLive makes every call that gdbserver and this tree's server support, and compares each answer with that of the kernel, of
// the files or of the program itself.
func TestLive(t *testing.T) {
	t.Parallel()
	for name, server := range map[string][]string{"gdbserver": {testtool.Path(t, "gdbserver"), "--once"}, "tracewell": nil} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := connect(t, server...)
			first, ok, err := l.StopReason()
			if err != nil || !ok || first.Kind != 'T' || first.Thread == nil {
				t.Fatalf("%+v, %v, %v", first, ok, err)
			}
			current := ask(l, request.CurrentThread, request.None{}, reply.Current)
			l.pid = current.PID
			same(l, "current thread", current, *first.Thread)
			l.runTo(l.at("main"))
			l.process()
			l.registersAndMemory()
			l.objects()
			l.files()
			l.unsupported(name)
			l.batch()
			l.traceRun()
			l.end()
		})
	}
}

// process compares what the stub says of threads and of the process.
func (l *live) process() {
	l.Helper()
	entries, err := os.ReadDir(l.proc("task"))
	if err != nil {
		l.Fatal(err)
	}
	var want []rsp.Thread
	for _, e := range entries {
		tid, _ := strconv.Atoi(e.Name())
		want = append(want, rsp.Thread{PID: l.pid, TID: tid, Multiprocess: true})
	}
	got, err := List(l.Client, request.FirstThreads, request.MoreThreads, reply.Threads)
	if err != nil {
		l.Error(err)
	}
	same(l, "threads", got, want)
	for _, id := range got {
		ask(l, request.ThreadAlive, id, reply.OK)
	}
	if _, err := Do(l.Client, OK(request.ThreadAlive, rsp.Thread{PID: l.pid, TID: 1 << 30, Multiprocess: true})); !Rejected(err) {
		l.Errorf("a thread that there is not: %v", err)
	}
	same(l, "attached", ask(l, request.Attached, request.MaybeProcess{PID: l.pid, Given: true}, reply.Attached), false)
	ask(l, request.PassSignals, []int{14, 20}, reply.OK)
	ask(l, request.Monitor, "help", reply.OK)
	if !strings.Contains(l.printed, "set remote-debug") {
		l.Errorf("monitor help prints %q", l.printed)
	}
	if err := Command(l.Client, request.Monitor, "nonsense"); !Rejected(err) {
		l.Errorf("a monitor command that there is not: %v", err)
	}
}

// crc is the checksum of qCRC, bit by bit.
func crc(b []byte) uint32 {
	sum := ^uint32(0)
	for _, c := range b {
		for bit := range 8 {
			top := sum>>31 != uint32(c>>(7-bit))&1
			if sum <<= 1; top {
				sum ^= 0x04c11db7
			}
		}
	}
	return sum
}

// registersAndMemory reads and writes both.
func (l *live) registersAndMemory() {
	l.Helper()
	before := l.registers()
	changed := slices.Clone(before.Bytes)
	binary.LittleEndian.PutUint64(changed[8*rdx:], 0x1122334455667788)
	ask(l, request.WriteRegisters, changed, reply.OK)
	if got := register(l.registers(), rdx); got != 0x1122334455667788 {
		l.Errorf("rdx is %#x", got)
	}
	ask(l, request.WriteRegisters, before.Bytes, reply.OK)
	same(l, "registers as before", l.registers(), before)

	code, size := l.at("main"), int(l.symbols["main"].Size)
	b, err := l.ReadMemory(code, size)
	same(l, "code", b, l.memory(code, size))
	stack := arch.Addr(register(before, rsp64))
	long, failed := l.ReadMemory(stack-40000, 41000) // of several packets
	same(l, "stack", long, l.memory(stack-40000, 41000))
	if err := errors.Join(err, failed); err != nil {
		l.Error(err)
	}
	if _, err := l.ReadMemory(8, 4); !Rejected(err) {
		l.Errorf("memory that there is not: %v", err)
	}
	totals := l.at("totals")
	written := []byte("}#$*\x00\xff+-")
	if err := l.WriteMemory(totals, written); err != nil {
		l.Error(err)
	}
	same(l, "memory written in hexadecimal", l.memory(totals, 8), written)
	slices.Reverse(written)
	ask(l, request.WriteMemoryBinary, request.Bytes(totals, written), reply.OK)
	same(l, "memory written in binary", l.memory(totals, 8), written)
	search := request.Search{Extent: request.Extent{Addr: totals - 100, Length: 200}, Pattern: written}
	same(l, "pattern", ask(l, request.SearchMemory, search, reply.Search), reply.Match{Found: true, Addr: totals})
	search.Length = 101
	same(l, "no pattern", ask(l, request.SearchMemory, search, reply.Search), reply.Match{})
	sum := ask(l, request.Checksum, request.Extent{Addr: code, Length: uint64(size)}, reply.Checksum)
	same(l, "checksum", sum, crc(l.memory(code, size)))
	if err := l.WriteMemory(totals, make([]byte, 8)); err != nil {
		l.Error(err)
	}
}

func (l *live) object(object, annex string) []byte {
	l.Helper()
	b, err := l.Transfer(object, annex, 16<<20)
	if err != nil {
		l.Fatal(err)
	}
	return b
}

// objects reads those of qXfer.
func (l *live) objects() {
	l.Helper()
	if b := l.object("features", "target.xml"); !bytes.Contains(b, []byte("<architecture>i386:x86-64</architecture>")) {
		l.Errorf("description %.200q", b)
	}
	same(l, "auxv", l.object("auxv", ""), l.read(l.proc("auxv")))
	path, err := os.Readlink(l.proc("exe"))
	same(l, "program", string(l.object("exec-file", strconv.FormatInt(int64(l.pid), 16))), path)
	if info := l.object("siginfo", ""); err != nil || len(info) != 128 || binary.LittleEndian.Uint32(info) != 5 { // SIGTRAP
		l.Errorf("siginfo % x, %v", info, err)
	}
	if _, err := l.Transfer("auxv", "", 16); err == nil || Rejected(err) {
		l.Errorf("an object that is longer than it may be: %v", err)
	}
	var list struct {
		Libraries []struct {
			Name string `xml:"name,attr"`
			Addr string `xml:"l_addr,attr"`
		} `xml:"library"`
	}
	if err := xml.Unmarshal(l.object("libraries-svr4", ""), &list); err != nil || len(list.Libraries) < 2 {
		l.Errorf("libraries %v, %v", list, err)
	}
	maps := string(l.read(l.proc("maps")))
	for _, library := range list.Libraries {
		name, err := filepath.EvalSymlinks(library.Name)
		start, _ := strings.CutPrefix(library.Addr, "0x")
		var first string // of the file's mappings, which has its first page
		for line := range strings.Lines(maps) {
			if strings.HasSuffix(line, " "+name+"\n") {
				first, _, _ = strings.Cut(line, "-")
				break
			}
		}
		if err == nil && first != start {
			l.Errorf("%s is at %s, by its mappings at %q", name, start, first)
		}
	}
	var threads struct {
		Threads []struct {
			ID   string `xml:"id,attr"`
			Name string `xml:"name,attr"`
		} `xml:"thread"`
	}
	if err := xml.Unmarshal(l.object("threads", ""), &threads); err != nil || len(threads.Threads) != 1 ||
		threads.Threads[0].ID != fmt.Sprintf("p%x.%x", l.pid, l.pid) || threads.Threads[0].Name+"\n" != string(l.read(l.proc("comm"))) {
		l.Errorf("threads %v, %v", threads, err)
	}
	if table := l.object("osdata", "processes"); !bytes.Contains(table, fmt.Appendf(nil, `<column name="pid">%d</column>`, l.pid)) {
		l.Errorf("the table of processes has no %d", l.pid)
	}
}

// files works on files of the stub's machine, which is this one.
func (l *live) files() {
	l.Helper()
	folder := l.TempDir()
	path, link := filepath.Join(folder, "file"), filepath.Join(folder, "link")
	content := bytes.Repeat([]byte("}#$*\x00\xff text\n"), 50)
	if err := os.Symlink(path, link); err != nil {
		l.Fatal(err)
	}
	const create, writable = 0x200, 2
	ask(l, request.SetFileSystem, 0, reply.File)
	fd, _, err := File(l.Client, request.OpenFile, request.FileOpen{Path: path, Flags: create | writable, Mode: 0o640})
	if err != nil {
		l.Fatal(err)
	}
	n, _, err := File(l.Client, request.WriteFile, request.FileWrite{Descriptor: int(fd), Bytes: content})
	if err != nil || int(n) != len(content) {
		l.Errorf("%d bytes written, %v", n, err)
	}
	same(l, "file", l.read(path), content)
	n, b, err := File(l.Client, request.ReadFile, request.FileRead{Descriptor: int(fd), Count: 100, Offset: 3})
	if err != nil || n != 100 {
		l.Errorf("%d bytes read, %v", n, err)
	}
	same(l, "part of the file", b, content[3:103])
	if n, b, err = File(l.Client, request.ReadFile, request.FileRead{Descriptor: int(fd), Count: 1, Offset: 1000}); n != 0 || len(b) > 0 || err != nil {
		l.Errorf("behind the end: %d, %q, %v", n, b, err)
	}
	// struct stat of File-I/O: big-endian, st_mode at 8, st_size at 28.
	_, stat, err := File(l.Client, request.StatOpenFile, int(fd))
	if err != nil || len(stat) != 64 || binary.BigEndian.Uint32(stat[8:]) != 0o100640 || int(binary.BigEndian.Uint64(stat[28:])) != len(content) {
		l.Errorf("stat % x, %v", stat, err)
	}
	if _, b, err = File(l.Client, request.ReadLink, link); string(b) != path || err != nil {
		l.Errorf("the link leads to %q, %v", b, err)
	}
	_, _, err1 := File(l.Client, request.CloseFile, int(fd))
	_, _, err2 := File(l.Client, request.UnlinkFile, path)
	if _, err := os.Stat(path); err1 != nil || err2 != nil || !errors.Is(err, os.ErrNotExist) {
		l.Errorf("close: %v, unlink: %v, and then %v", err1, err2, err)
	}
	var missing *FileError
	if _, _, err := File(l.Client, request.OpenFile, request.FileOpen{Path: path}); !errors.As(err, &missing) || missing.Code != 2 { // ENOENT
		l.Errorf("a file that there is not: %v", err)
	}
}

// unsupported sends packets that a server does not have.
func (l *live) unsupported(server string) {
	l.Helper()
	refused := map[string]error{"vMustReplyEmpty": Command(l.Client, request.MustReplyEmpty, request.None{})}
	_, refused["qXfer:nothing:read"] = l.Transfer("nothing", "", 100)
	switch server {
	case "gdbserver":
		_, refused["p"] = Do(l.Client, Ask(request.ReadRegister, 0, reply.Registers))
		_, refused["x"] = Do(l.Client, Ask(request.ReadMemoryBinary, request.Extent{Addr: l.at("main"), Length: 1}, reply.Binary))
		refused["QTSave"] = Command(l.Client, request.SaveTrace, "/dev/null")
		_, _, refused["vFile:stat"] = File(l.Client, request.StatFile, "/dev/null")
	default:
		refused["bc"] = Command(l.Client, request.BackContinue, request.None{})
		same(l, "shortest instruction of a fast tracepoint", ask(l, request.ShortestFast, request.None{}, reply.Shortest), 1)
		whole := l.registers()
		same(l, "register", ask(l, request.ReadRegister, rip, reply.Registers), whole.Part(8*rip, 8))
		ask(l, request.WriteRegister, request.RegisterValue{Register: rdx, Value: whole.Bytes[8*rdx : 8*rdx+8]}, reply.OK)
		binary := ask(l, request.ReadMemoryBinary, request.Extent{Addr: l.at("main"), Length: 64}, reply.Binary)
		same(l, "memory in binary", binary, l.memory(l.at("main"), 64))
	}
	for packet, err := range refused {
		var unsupported *UnsupportedError
		if !errors.As(err, &unsupported) || unsupported.Packet != packet {
			l.Errorf("%s: %v", packet, err)
		}
	}
}

// batch sends calls in one write, one of which fails, and compares the results with those of single calls.
func (l *live) batch() {
	l.Helper()
	b := l.Batch()
	thread := Add(b, Ask(request.CurrentThread, request.None{}, reply.Current))
	wrong := Add(b, Memory(8, 4))
	lacking := Add(b, OK(request.MustReplyEmpty, request.None{}))
	code := Add(b, Memory(l.at("main"), 16))
	auxv := Add(b, Ask(request.Transfer("auxv"), request.Part{Length: 0x100}, reply.Object))
	registers := Add(b, Ask(request.ReadRegisters, request.None{}, reply.Registers))
	before := l.conn.writes
	if err := b.Run(); err != nil {
		l.Fatal(err)
	}
	if n := l.conn.writes - before; n != 1 {
		l.Errorf("a batch takes %d writes", n)
	}
	if err := errors.Join(thread.Err, code.Err, auxv.Err, registers.Err); err != nil {
		l.Error(err)
	}
	if !Rejected(wrong.Err) || !errors.As(lacking.Err, new(*UnsupportedError)) {
		l.Errorf("%v, %v", wrong.Err, lacking.Err)
	}
	same(l, "thread in a batch", thread.Value.PID, l.pid)
	same(l, "code in a batch", code.Value, l.memory(l.at("main"), 16))
	same(l, "auxv in a batch", auxv.Value.Bytes, l.read(l.proc("auxv"))[:len(auxv.Value.Bytes)])
	same(l, "registers in a batch", registers.Value, l.registers())
	// The stub is in step afterwards.
	same(l, "thread", ask(l, request.CurrentThread, request.None{}, reply.Current).PID, l.pid)
}

// traceRun traces all calls of account, up to where main returns, and compares the frames with what the program prints.
func (l *live) traceRun() {
	l.Helper()
	none := request.None{}
	status, _, err := l.TraceStatus()
	if err != nil || status.Running || status.Reason != trace.ReasonNotRun {
		l.Errorf("%+v, %v", status, err)
	}
	ask(l, request.TraceInit, none, reply.OK)
	mine := trace.Variable{Number: 9, Initial: -42, Name: "mine"}
	ask(l, request.DefineVariable, mine, reply.OK)
	settings := l.symbols["settings"]
	point := trace.Tracepoint{Number: 1, Addr: l.at("account"), Enabled: true, Actions: []trace.Action{
		{Kind: trace.CollectRegisters, Mask: []byte{0x01, 0xff, 0xff}},
		{Kind: trace.CollectMemory, Base: trace.Absolute, Offset: settings.Value, Length: settings.Size},
	}}
	if err := l.Define(&point, func(string) bool { return true }); err != nil {
		l.Fatal(err)
	}
	ask(l, request.BufferSize, 1<<20, reply.OK)
	ask(l, request.CircularBuffer, false, reply.OK)
	ask(l, request.Disconnected, false, reply.OK)
	ask(l, request.TraceNotes, []request.Note{{Key: "user", Text: "me"}, {Key: "notes", Text: "of a test"}}, reply.OK)
	ask(l, request.ReadOnlyRanges, []request.Range{{Start: l.at("main"), End: l.at("main") + 8}}, reply.OK)
	ask(l, request.TraceStart, none, reply.OK)
	if status, _, err = l.TraceStatus(); err != nil || !status.Running || status.User != "me" || status.Notes != "of a test" {
		l.Errorf("%+v, %v", status, err)
	}
	same(l, "variable", ask(l, request.VariableValue, mine.Number, reply.Value), reply.Variable{Known: true, Value: mine.Initial})
	back := l.memory(arch.Addr(register(l.registers(), rsp64)), 8) // main has not executed an instruction
	l.runTo(arch.Addr(binary.LittleEndian.Uint64(back)))
	ask(l, request.TraceStop, none, reply.OK)

	if status, _, err = l.TraceStatus(); err != nil || status.Running || status.Reason != trace.ReasonStop || status.Frames != calls {
		l.Errorf("%+v, %v", status, err)
	}
	if counts := ask(l, request.TracepointCounts, point.Key(), reply.Hits); counts.Hits != calls || counts.Usage == 0 {
		l.Errorf("%+v, want %d hits", counts, calls)
	}
	variables, err := List(l.Client, request.FirstVariable, request.MoreVariables, reply.Variables)
	if err != nil || !slices.Contains(variables, mine) || !slices.ContainsFunc(variables, func(v trace.Variable) bool {
		return v.Number == trace.Timestamp && v.Builtin
	}) {
		l.Errorf("variables %v, %v", variables, err)
	}
	var uploaded trace.Upload
	if err := l.Pieces(uploaded.Add); err != nil {
		l.Error(err)
	}
	for _, got := range uploaded.Tracepoints() {
		same(l, "address of the definition", got.Addr, point.Addr)
		same(l, "actions of the definition", len(got.Actions), len(point.Actions))
	}
	l.frames(settings)
	l.buffer()
}

// frames looks at each frame of the run.
func (l *live) frames(settings elf.Symbol) {
	l.Helper()
	_, failed := l.Exchange(request.SelectFrame.Append(nil, request.FrameQuery{Number: request.LeaveFrames}))
	for n := range calls {
		selected := ask(l, request.SelectFrame, request.FrameQuery{Number: uint64(n)}, reply.Frame)
		same(l, "frame", selected, reply.Selection{Found: true, Number: n, Tracepoint: 1})
		block := l.registers()
		same(l, "pc of a frame", register(block, rip), uint64(l.at("account")))
		l.seen = append(l.seen, fmt.Sprintf("%d %d %d", register(block, rdi), register(block, rsi), int64(register(block, rdx))))
		b, err := l.ReadMemory(arch.Addr(settings.Value), int(settings.Size))
		same(l, "memory of a frame", b, l.memory(arch.Addr(settings.Value), int(settings.Size)))
		if _, other := l.ReadMemory(l.at("totals"), 4); err != nil || !Rejected(other) {
			l.Errorf("memory of a frame: %v; what it has not: %v", err, other)
		}
		if info := l.object("traceframe-info", ""); !bytes.Contains(info, fmt.Appendf(nil, "%#x", settings.Value)) {
			l.Errorf("frame %d: %s", n, info)
		}
	}
	none := ask(l, request.SelectFrame, request.FrameQuery{Number: calls}, reply.Frame)
	same(l, "frame behind the last", none, reply.Selection{})
	byAddress := request.FrameQuery{By: request.ByPC, Low: l.at("account")}
	ask(l, request.SelectFrame, request.FrameQuery{Number: 2}, reply.Frame)
	same(l, "frame by address", ask(l, request.SelectFrame, byAddress, reply.Frame), reply.Selection{Found: true, Number: 3, Tracepoint: 1})
	left := ask(l, request.SelectFrame, request.FrameQuery{Number: request.LeaveFrames}, reply.Frame)
	if failed != nil || left.Found {
		l.Errorf("after frames: %+v, %v", left, failed)
	}
}

// end lets the program end, which is when it prints what it has done, and compares that with the frames.
func (l *live) end() {
	l.Helper()
	if err := l.Resume(request.Action{Verb: 'c', All: true}); err != nil {
		l.Fatal(err)
	}
	stop, err := l.AwaitStop(time.Now().Add(time.Minute))
	same(l, "the end", stop, reply.Stop{Kind: 'W', PID: l.pid, Core: -1})
	for deadline := time.Now().Add(time.Minute); !strings.Contains(l.server.Stdout(), "done ") && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond) // the server's word may be here before the program's
	}
	var want []string
	for _, line := range testprog.OfKind(testprog.Records(l.server.Stdout()), "account") {
		want = append(want, line.Fields["worker"]+" "+line.Fields["round"]+" "+line.Fields["result"])
	}
	if same(l, "arguments in frames, and printed", l.seen, want); err != nil {
		l.Error(err)
	}
}

// buffer reads the trace buffer: a tracepoint's number, a length, and the frame's data, and again.
func (l *live) buffer() {
	l.Helper()
	var all []byte
	for {
		b, err := l.TraceBuffer(int64(len(all)), 100)
		if err != nil {
			l.Fatal(err)
		}
		if all = append(all, b...); len(b) == 0 {
			break
		}
	}
	n := 0
	for ; len(all) > 6 && binary.LittleEndian.Uint16(all) == 1; n++ {
		all = all[6+min(len(all)-6, int(binary.LittleEndian.Uint32(all[2:]))):]
	}
	if n != calls || len(all) > 0 {
		l.Errorf("the buffer has %d frames, and %d bytes besides", n, len(all))
	}
}
