package stub

import (
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"testing"
	"time"

	"tracewell/arch"
	"tracewell/rsp"
	"tracewell/target"
	"tracewell/target/fake"
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
}

func parseOperands(words []string) operands {
	o := operands{named: make(map[string]string)}
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
	"disable":     func(p *play, o operands) { p.config.Disable = o.words },
	"acks":        func(p *play, _ operands) { p.acks = true },
	"attached":    func(p *play, _ operands) { p.config.Attached = true },
	"core-only":   func(p *play, _ operands) { p.program.CoreOnly = true },
	"no-engine":   func(p *play, _ operands) { p.noTrace = true },
	"no-process":  func(p *play, _ operands) { p.program.Threads = nil },
	"packet-size": func(p *play, o operands) { p.size = int(p.number(o.words[0])) },
	"lost": func(p *play, o operands) {
		p.config.OnLost = map[string]Loss{"hold": Hold, "detach": Detach, "kill": Kill}[o.words[0]]
	},
	"auxv":    func(p *play, o operands) { p.program.Auxv = p.bytes(o.words[0]) },
	"exec":    func(p *play, o operands) { p.program.Exec = o.words[0] },
	"siginfo": func(p *play, o operands) { p.program.Siginfo = p.bytes(o.words[0]) },
	// passing: the target keeps the signals of QPassSignals to itself.
	"passing": func(p *play, _ operands) { p.program.Passing = true },
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
	// file PATH HEXBYTES, folder PATH, link PATH WHERE: what there is in the file system.
	"file": func(p *play, o operands) {
		content, err := rsp.ParseHexBytes(o.words[1])
		if err != nil {
			p.t.Fatal(err)
		}
		p.addFile(o.words[0], fake.File{Bytes: content, Mode: 0o640})
	},
	"folder": func(p *play, o operands) { p.addFile(o.words[0], fake.File{Mode: fs.ModeDir | 0o755}) },
	"link": func(p *play, o operands) {
		p.addFile(o.words[0], fake.File{Mode: fs.ModeSymlink | 0o777, Link: o.words[1]})
	},
	"library": func(p *play, o operands) {
		m := p.program.Libraries
		if m == nil {
			m = &target.LinkMap{Main: 0x7000}
			p.program.Libraries = m
		}
		at := arch.Addr(0x7000 + 0x100*len(m.Objects))
		m.Objects = append(m.Objects, target.LinkObject{Name: o.words[0], LMID: 0x6000, LM: at, Addr: at << 12, LD: at<<12 + 8})
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
		p.fake.Play(fake.Step{Event: &event})
	},
	"exit": func(p *play, o operands) {
		p.fake.Play(fake.Step{Event: &target.Event{Kind: target.Exited, Code: int(p.number(o.words[0]))}})
	},
	"killed": func(p *play, o operands) {
		p.fake.Play(fake.Step{Event: &target.Event{Kind: target.Terminated, Signal: target.Signal(p.number(o.words[0]))}})
	},
	"execs": func(p *play, o operands) {
		p.fake.Play(fake.Step{Event: &target.Event{Kind: target.Execed, Path: o.words[0]}})
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
	// settle waits until the program has played all that the transcript told it.
	"settle": func(p *play, _ operands) { p.fake.Settle() },
	// What must be so.
	"installed": func(p *play, o operands) { p.check("sites installed", p.fake.Installed(), o.words[0]) },
	"threads":   func(p *play, o operands) { p.check("threads", len(p.fake.Threads()), o.words[0]) },
	"frames":    func(p *play, o operands) { p.check("frames", p.engine.NumFrames(), o.words[0]) },
}

var reasonNames = map[string]target.Reason{
	"": target.ReasonNone, "swbreak": target.ReasonSwBreak, "hwbreak": target.ReasonHwBreak, "watch": target.ReasonWatch,
	"rwatch": target.ReasonReadWatch, "awatch": target.ReasonAccessWatch, "library": target.ReasonLibrary,
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
	return target.ThreadID{PID: leader.PID, TID: int(p.number(s))}
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
