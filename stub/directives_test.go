package stub

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"
	"testing"
	"time"

	"tracewell/arch"
	"tracewell/inferior"
	"tracewell/internal/test/sdttest"
	"tracewell/rsp"
	"tracewell/target"
	"tracewell/target/fake"
	"tracewell/tfile"
	"tracewell/tracepoint"
)

// leader is the first thread of the toy program.
var leader = target.ThreadID{PID: 0x1a, TID: 0x1a}

// toyProgram is what transcripts play on: 256 bytes of code that the program cannot write at 0x401000 and 256 of data at
// 0x404000, each byte of the latter the low byte of its address.
func toyProgram() fake.Program {
	code, data := make([]byte, 256), make([]byte, 256)
	for i := range data {
		code[i], data[i] = 0x90, byte(i)
	}
	return fake.Program{
		ISA: fake.Toy, Description: fake.ToyDescription(),
		Threads: []target.Thread{{ID: leader, Name: "toy", Core: 1}},
		Memory:  []fake.Region{{Start: 0x401000, Bytes: code, ReadOnly: true}, {Start: 0x404000, Bytes: data}},
	}
}

// toyLayout is an engine's view of the toy, with a clock that goes on by a second whenever it is read.
func toyLayout(t testing.TB) tracepoint.Layout {
	layout, err := fake.ToyDescription().Layout()
	if err != nil {
		t.Fatal(err)
	}
	now := time.Unix(1000, 0)
	pc := layout.ByNumber(fake.Toy.PC)
	return tracepoint.Layout{
		Order: fake.Toy.Order, RegisterBlock: layout.Size, PCOffset: pc.Offset, PCSize: pc.Size,
		Now: func() time.Time { now = now.Add(time.Second); return now },
	}
}

// operands are a directive's words: those with an equals sign by name, the others in order.
type operands struct {
	words []string
	named map[string]string
	all   []string
}

func parseOperands(words []string) operands {
	o := operands{named: make(map[string]string), all: words}
	for _, w := range words {
		if name, value, ok := strings.Cut(w, "="); ok {
			o.named[name] = value
		} else {
			o.words = append(o.words, w)
		}
	}
	return o
}

// directives are what lines beginning with = can say. Those in setup come before the first packet.
var setup = map[string]func(*play, operands){
	"disable":   func(p *play, o operands) { p.config.Disable = o.words },
	"acks":      func(p *play, _ operands) { p.acks = true },
	"attached":  func(p *play, _ operands) { p.config.Attached = true },
	"core-only": func(p *play, _ operands) { p.program.CoreOnly = true },
	// saves [ERROR...]: the server keeps the files of QTSave, or fails to.
	"saves": func(p *play, o operands) {
		p.saved = make(map[string][]byte)
		p.config.Save = func(name string, write func(io.Writer) error) error {
			if len(o.words) > 0 {
				return errors.New(strings.Join(o.words, " "))
			}
			var b bytes.Buffer
			err := write(&b)
			p.saved[name] = b.Bytes()
			return err
		}
	},
	// unmovable FROM TO: an instruction that the target cannot copy, and the place for a copy.
	"unmovable": func(p *play, o operands) {
		if p.program.Unmovable == nil {
			p.program.Unmovable = make(map[arch.Addr]arch.Addr)
		}
		p.program.Unmovable[arch.Addr(p.number(o.words[0]))] = arch.Addr(p.number(o.words[1]))
	},
	// collector BATCH: the target has a Collector, which deposits that many hits at a time.
	"collector": func(p *play, o operands) { p.program.Batch = int(p.number(o.words[0])) },
	// trap ADDRESS REASON...: where the target's Collector, if it has one, takes no tracepoint.
	"trap": func(p *play, o operands) {
		p.program.Refused = map[arch.Addr]string{arch.Addr(p.number(o.words[0])): strings.Join(o.words[1:], " ")}
	},
	// recording: the trace run of newRecording, which cannot be changed. unknown REGISTER...: what nobody knows.
	"recording":   func(p *play, _ operands) { p.program.TraceRun = newRecording(p.t) },
	"unknown":     func(p *play, o operands) { p.program.Unknown = o.words },
	"no-engine":   func(p *play, _ operands) { p.noTrace = true },
	"no-process":  func(p *play, _ operands) { p.program.Threads = nil },
	"packet-size": func(p *play, o operands) { p.size = int(p.number(o.words[0])) },
	"lost": func(p *play, o operands) {
		p.config.OnLost = map[string]Loss{"hold": Hold, "detach": Detach, "kill": Kill}[o.words[0]]
	},
	"auxv":    func(p *play, o operands) { p.program.Auxv = p.bytes(o.words[0]) },
	"heap":    func(p *play, o operands) { p.program.Heap = arch.Addr(p.number(o.words[0])) },
	"exec":    func(p *play, o operands) { p.program.Exec = o.words[0] },
	"siginfo": func(p *play, o operands) { p.program.Siginfo = p.bytes(o.words[0]) },
	// passing: the target keeps the signals of QPassSignals to itself.
	// table NAME TYPE TITLE ABOUT COLUMN..., row VALUE...: what the system tells of itself.
	"table": func(p *play, o operands) {
		p.program.Tables = append(p.program.Tables, target.OSTable{
			Name: o.words[0], Type: o.words[1], Title: o.words[2], About: o.words[3], Columns: o.words[4:],
		})
	},
	"row": func(p *play, o operands) {
		var row []string
		for _, value := range o.words {
			row = append(row, string(p.bytes(value)))
		}
		last := &p.program.Tables[len(p.program.Tables)-1]
		last.Rows = append(last.Rows, row)
	},
	// locals LM TID=ADDRESS...: where the thread-local variables of the object at LM are.
	"locals": func(p *play, o operands) {
		p.program.Locals = &fake.Locals{LM: arch.Addr(p.number(o.words[0])), Blocks: make(map[target.ThreadID]arch.Addr)}
		for tid, addr := range o.named {
			id := target.ThreadID{PID: leader.PID, TID: int(p.number(tid))}
			p.program.Locals.Blocks[id] = arch.Addr(p.number(addr))
		}
	},
	"passing":       func(p *play, _ operands) { p.program.Passing = true },
	"reversible":    func(p *play, _ operands) { p.program.Reversible = true },
	"all-stop-only": func(p *play, _ operands) { p.program.AllStopOnly = true },
	"multi":         func(p *play, _ operands) { p.config.Multi = true },
	"syscalls":      func(p *play, _ operands) { p.program.Syscalls = true },
	// process PID [TID...]: another one, from the beginning. other PID [TID...]: one that can be attached to.
	"process": func(p *play, o operands) { p.program.Threads = append(p.program.Threads, p.threadsOf(o)...) },
	"other":   func(p *play, o operands) { p.program.Others = append(p.program.Others, p.threadsOf(o)...) },
	// program PATH: one that can be started. last PATH ARGUMENT...: what ran last. environment VARIABLE: what there is in it.
	"program": func(p *play, o operands) { p.program.Programs = append(p.program.Programs, o.words[0]) },
	"last":    func(p *play, o operands) { p.config.Program.Path, p.config.Program.Args = o.words[0], o.words[1:] },
	"environment": func(p *play, o operands) {
		for name, value := range o.named {
			p.config.Program.Env = append(p.config.Program.Env, name+"="+value)
		}
	},
	// file PATH HEXBYTES, folder PATH, link PATH WHERE: what there is in the file system.
	"file": func(p *play, o operands) {
		content, err := rsp.ParseHexBytes(o.words[1])
		if err != nil {
			p.t.Fatal(err)
		}
		p.addFile(o.words[0], fake.File{Bytes: content, Mode: 0o640})
	},
	// probe PATH PROVIDER:NAME PC SEMAPHORE [ARGUMENT...]: a static tracepoint in an ELF file, which starts at 0x1000.
	"probe": func(p *play, o operands) {
		provider, name, _ := strings.Cut(o.words[1], ":")
		if p.probed == nil {
			p.probed = make(map[string]*sdttest.File)
		}
		f := p.probed[o.words[0]]
		if f == nil {
			f = &sdttest.File{Entry: 0x1000}
			p.probed[o.words[0]] = f
		}
		f.Probes = append(f.Probes, sdttest.Probe{
			Provider: provider, Name: name, PC: p.number(o.words[2]), Semaphore: p.number(o.words[3]),
			Arguments: strings.Join(o.words[4:], " "),
		})
		p.addFile(o.words[0], fake.File{Bytes: f.Bytes(), Mode: 0o755})
	},
	"folder": func(p *play, o operands) { p.addFile(o.words[0], fake.File{Mode: fs.ModeDir | 0o755}) },
	"link": func(p *play, o operands) {
		p.addFile(o.words[0], fake.File{Mode: fs.ModeSymlink | 0o777, Link: o.words[1]})
	},
	// command NAME ARGUMENTS ABOUT: one of the target's own, which prints what it is given, and fails for no arguments.
	"command": func(p *play, o operands) {
		p.program.Commands = append(p.program.Commands, target.MonitorCommand{
			Name: o.words[0], Arguments: o.words[1], About: o.words[2],
			Do: func(id target.ThreadID, args string) (string, error) {
				if args == "" {
					return "", errors.New("what?")
				}
				return fmt.Sprintf("%v %s\n", id, args), nil
			},
		})
	},
	// library NAME [lmid=ADDRESS]: the entries of the list follow each other at 0x100 bytes from 0x7000 on; the first is the
	// program's.
	"library": func(p *play, o operands) {
		m := p.program.Libraries
		if m == nil {
			m = &inferior.LinkMap{Main: 0x7000}
			p.program.Libraries = m
		}
		lmid := arch.Addr(0x6000)
		if s, ok := o.named["lmid"]; ok {
			lmid = arch.Addr(p.number(s))
		}
		at := arch.Addr(0x7000 + 0x100*len(m.Objects))
		m.Objects = append(m.Objects, inferior.LinkObject{Name: o.words[0], LMID: lmid, LM: at, Addr: at << 12, LD: at<<12 + 8})
	},
}

var directives = map[string]func(*play, operands){
	// reconnect: the client goes away and another comes; drop is the first half of it.
	"drop": func(p *play, _ operands) { p.log(p.hangUp()) },
	"connect": func(p *play, _ operands) {
		p.log(p.hangUp())
		p.connect()
	},
	// hit ADDRESS [REGISTER=VALUE...] [thread=TID] [ADDRESS=HEXBYTES]: a thread arrives somewhere.
	"hit": func(p *play, o operands) {
		step := fake.Step{PC: arch.Addr(p.number(o.words[0])), Thread: p.threadOf(o)}
		step.Registers, step.Memory = p.values(o)
		p.fake.Play(step)
	},
	// stop [signal=N] [reason=NAME] [addr=ADDRESS] [thread=TID], exit CODE, killed SIGNAL, execs PATH: the event.
	"stop": func(p *play, o operands) {
		event := target.Event{Signal: target.SignalTrap, Thread: p.threadOf(o), Reason: reasonNames[o.named["reason"]]}
		if s, ok := o.named["signal"]; ok {
			event.Signal = target.Signal(p.number(s))
		}
		if s, ok := o.named["addr"]; ok {
			event.Addr = arch.Addr(p.number(s))
		}
		p.happens(o, event)
	},
	"exit": func(p *play, o operands) {
		p.happens(o, target.Event{Kind: target.Exited, Code: int(p.number(o.words[0]))})
	},
	"killed": func(p *play, o operands) {
		p.happens(o, target.Event{Kind: target.Terminated, Signal: target.Signal(p.number(o.words[0]))})
	},
	// copied ADDRESS SIZE: what the client has told of its copy of an instruction.
	"copied": func(p *play, o operands) {
		p.check("bytes copied", p.fake.Copied(arch.Addr(p.number(o.words[0]))), o.words[1])
	},
	// saved NAME FRAMES: how many frames a trace file has.
	"saved": func(p *play, o operands) {
		b, ok := p.saved[o.words[0]]
		file, err := tfile.OpenBytes(b)
		if !ok || err != nil {
			p.t.Errorf("file %q: saved %v, %v", o.words[0], ok, err)
			return
		}
		p.check("frames saved", file.NumFrames(), o.words[1])
	},
	"execs": func(p *play, o operands) { p.happens(o, target.Event{Kind: target.Execed, Path: o.words[0]}) },
	// forks PID, vforks PID, vfork-done, syscall NUMBER, syscall-done NUMBER, none-resumed: more events, of a thread=PID.TID.
	"forks":      func(p *play, o operands) { p.happens(o, target.Event{Kind: target.Forked, Child: p.idOf(o.words[0])}) },
	"vforks":     func(p *play, o operands) { p.happens(o, target.Event{Kind: target.Vforked, Child: p.idOf(o.words[0])}) },
	"vfork-done": func(p *play, o operands) { p.happens(o, target.Event{Kind: target.VforkDone}) },
	"syscall": func(p *play, o operands) {
		p.happens(o, target.Event{Kind: target.SyscallEntry, Syscall: int(p.number(o.words[0]))})
	},
	"syscall-done": func(p *play, o operands) {
		p.happens(o, target.Event{Kind: target.SyscallReturn, Syscall: int(p.number(o.words[0]))})
	},
	"none-resumed": func(p *play, _ operands) { p.happens(operands{}, target.Event{Kind: target.NoneResumed}) },
	// clones PID.TID: a new thread. thread-exit CODE thread=PID.TID: the end of one.
	"clones": func(p *play, o operands) {
		p.fake.Play(fake.Step{Event: &target.Event{Kind: target.ThreadCreated, Thread: p.idOf(o.words[0])}, Thread: p.threadOf(o)})
	},
	"thread-exit": func(p *play, o operands) {
		p.happens(o, target.Event{Kind: target.ThreadExited, Code: int(p.number(o.words[0]))})
	},
	"thread": func(p *play, o operands) {
		id := target.ThreadID{PID: leader.PID, TID: int(p.number(o.words[0]))}
		p.fake.AddThread(target.Thread{ID: id, Name: o.words[1], Core: -1})
	},
	"end-thread": func(p *play, o operands) {
		p.fake.EndThread(target.ThreadID{PID: leader.PID, TID: int(p.number(o.words[0]))})
	},
	// passed SIGNAL...: what the target was told to keep to itself.
	"passed": func(p *play, o operands) {
		if got := fmt.Sprint(p.fake.Passed()); got != fmt.Sprint(o.words) {
			p.t.Errorf("the target passes signals %s, expected %s", got, o.words)
		}
	},
	// printed [TEXT]: what agent expressions printed since the last such line.
	"printed": func(p *play, o operands) {
		p.mu.Lock()
		defer p.mu.Unlock()
		if got := printable(p.printed); got != strings.Join(o.words, " ") {
			p.t.Errorf("expressions printed %q, expected %q", got, o.words)
		}
		p.printed = nil
	},
	// taken SIGNAL...: what the program may take with it.
	"taken": func(p *play, o operands) {
		p.same("taken", strings.Trim(fmt.Sprint(p.fake.Taken()), "[]"), o)
	},
	// told TEXT: what the server told its owner next. nothing-told: nothing more.
	"told": func(p *play, o operands) {
		want := strings.Join(o.words, " ")
		select {
		case got := <-p.told:
			if got != want {
				p.t.Errorf("the server told %q, expected %q", got, want)
			}
		case <-time.After(time.Minute):
			p.t.Errorf("the server told nothing, expected %q", want)
		}
	},
	"nothing-told": func(p *play, _ operands) { p.check("things told", len(p.told), "0") },
	// started PATH ARGUMENT...: the program that was started last, and its settings.
	"started": func(p *play, o operands) { p.same("the program", programText(p.fake.Started()), o) },
	// caught PID LIST, reports NAME...: what the target was told to stop at, and to tell of.
	"caught": func(p *play, o operands) {
		p.same("caught", strings.TrimSpace(fmt.Sprint(o.words[0], " ", p.fake.Caught(int(p.number(o.words[0]))))), o)
	},
	"reports": func(p *play, o operands) { p.same("reported", reportsText(p.fake.Reports()), o) },
	// settle waits until the program has played all that the transcript told it, also where it has stopped: the server is about
	// to let it go on.
	"settle": func(p *play, _ operands) {
		for deadline := time.Now().Add(time.Minute); p.fake.Left() > 0 && time.Now().Before(deadline); {
			time.Sleep(time.Millisecond)
		}
		p.fake.Settle()
	},
	// What must be so.
	// silent, answers: whether the program answers a hit that reads its memory. unanswered: waits until a hit does so in vain.
	"silent":     func(p *play, _ operands) { p.fake.Silence(true) },
	"answers":    func(p *play, _ operands) { p.fake.Silence(false) },
	"unanswered": func(p *play, _ operands) { p.fake.AwaitRead() },
	// lose REASON...: the connection to the program, as far as hits go.
	"lose": func(p *play, o operands) { p.fake.Lose(errors.New(strings.Join(o.words, " "))) },
	"installed": func(p *play, o operands) {
		pid := target.All
		if s, ok := o.named["process"]; ok {
			pid = int(p.number(s))
		}
		p.check("sites installed", p.fake.Installed(pid), o.words[0])
	},
	"inserted": func(p *play, o operands) {
		pid, addr := int(p.number(o.words[0])), arch.Addr(p.number(o.words[1]))
		p.same("inserted", fmt.Sprint(o.words[0], " ", o.words[1], " ", p.fake.Inserted(pid, target.Software, addr)), o)
	},
	"threads": func(p *play, o operands) { p.check("threads", len(p.fake.Threads()), o.words[0]) },
	"frames":  func(p *play, o operands) { p.check("frames", int(p.engine.Status().Frames), o.words[0]) },
}

var reasonNames = map[string]target.Reason{
	"": target.ReasonNone, "swbreak": target.ReasonSwBreak, "hwbreak": target.ReasonHwBreak, "watch": target.ReasonWatch,
	"rwatch": target.ReasonReadWatch, "awatch": target.ReasonAccessWatch, "library": target.ReasonLibrary,
	"begin": target.ReasonBegin, "end": target.ReasonEnd,
}

func (p *play) addFile(path string, f fake.File) {
	if p.program.Files == nil {
		p.program.Files = make(map[string]*fake.File)
	}
	p.program.Files[path] = &f
}

// direct does what a directive says.
func (p *play) direct(line string) {
	words := strings.Fields(line)
	o := parseOperands(words[1:])
	if words[0] == "printed" { // text may look like an operand with a name
		o = operands{words: words[1:]}
	}
	if do := setup[words[0]]; do != nil {
		if p.server != nil {
			p.t.Fatalf("directive %q must come before the first packet", line)
		}
		do(p, o)
		return
	}
	do := directives[words[0]]
	if do == nil {
		p.t.Fatalf("there is no directive %q", line)
	}
	if p.server == nil {
		p.start()
	}
	do(p, o)
}

func (p *play) number(s string) uint64 {
	n, err := strconv.ParseUint(s, 0, 64)
	if err != nil {
		p.t.Fatal(err)
	}
	return n
}

func (p *play) threadOf(o operands) target.ThreadID {
	s, ok := o.named["thread"]
	if !ok {
		return target.ThreadID{}
	}
	return p.idOf(s)
}

// idOf reads PID.TID, or the TID of a thread of the first process.
func (p *play) idOf(s string) target.ThreadID {
	pid, tid, both := strings.Cut(s, ".")
	if !both {
		return target.ThreadID{PID: leader.PID, TID: int(p.number(s))}
	}
	return target.ThreadID{PID: int(p.number(pid)), TID: int(p.number(tid))}
}

// threadsOf is the threads of a process named by PID [TID...].
func (p *play) threadsOf(o operands) []target.Thread {
	pid := int(p.number(o.words[0]))
	var threads []target.Thread
	for _, tid := range o.words {
		threads = append(threads, target.Thread{ID: target.ThreadID{PID: pid, TID: int(p.number(tid))}, Name: "other", Core: -1})
	}
	return threads
}

// happens plays an event of the thread that is named, or of the first.
func (p *play) happens(o operands, ev target.Event) {
	p.fake.Play(fake.Step{Event: &ev, Thread: p.threadOf(o)})
}

// notify has the server tell the transcript what becomes of processes.
func (p *play) notify() Notify {
	tell := func(format string, args ...any) { p.told <- fmt.Sprintf(format, args...) }
	return Notify{
		Started:   func(path string, pid int) { tell("started %s %#x", path, pid) },
		Refused:   func(err error) { tell("refused %v", err) },
		Attached:  func(pid int) { tell("attached %#x", pid) },
		Detaching: func(pid int) { tell("detaching %#x", pid) },
		Killing:   func(pids []int) { tell("killing %#x", pids) },
		Ended:     func(ev target.Event) { tell("ended %#x", ev.Thread.PID) },
	}
}

// programText is a program in one line, its settings behind it.
func programText(p target.Program) string {
	text := strings.Join(append([]string{p.Path}, p.Args...), ",")
	if p.Env != nil {
		text += " env " + strings.Join(p.Env, " ")
	}
	if p.Dir != "" {
		text += " in " + p.Dir
	}
	if p.Files != [3]string{} {
		text += fmt.Sprintf(" with %q", p.Files)
	}
	if p.RandomAddresses {
		text += " randomly"
	}
	return text
}

func reportsText(r target.Reports) string {
	var words []string
	for _, w := range []struct {
		name string
		on   bool
	}{{"fork", r.Fork}, {"vfork", r.Vfork}, {"threads", r.Threads}, {"none-resumed", r.NoneResumed}} {
		if w.on {
			words = append(words, w.name)
		}
	}
	return strings.Join(words, " ")
}

// same compares a text with the words of a directive.
func (p *play) same(what, got string, o operands) {
	p.t.Helper()
	if want := strings.Join(o.all, " "); got != want {
		p.t.Errorf("%s: %q, expected %q", what, got, want)
	}
}

// values sorts NAME=VALUE into registers and memory.
func (p *play) values(o operands) (map[string]uint64, map[arch.Addr][]byte) {
	registers, memory := make(map[string]uint64), make(map[arch.Addr][]byte)
	for name, value := range o.named {
		switch {
		case name == "thread":
		case strings.HasPrefix(name, "0x"):
			b, err := rsp.ParseHexBytes(value)
			if err != nil {
				p.t.Fatal(err)
			}
			memory[arch.Addr(p.number(name))] = b
		default:
			registers[name] = p.number(value)
		}
	}
	return registers, memory
}

func (p *play) check(what string, got int, want string) {
	p.t.Helper()
	if fmt.Sprint(got) != want {
		p.t.Errorf("%d %s, expected %s", got, what, want)
	}
}

// log reports what Serve returned unless it is nothing.
func (p *play) log(err error) {
	if err != nil {
		p.t.Errorf("Serve: %v", err)
	}
}
