package request

import (
	"math"

	"tracewell/arch"
	"tracewell/rsp"
)

// Packets that resume, stop, start and end programs.
var (
	ResumeActions = bare("vCont?")
	Resume        = form("vCont;", "VERB[:THREAD];...", actions)
	Continue      = form("c", "[ADDRESS]", maybeAddr)
	ContinueWith  = form("C", "SIGNAL[;ADDRESS]", signalled)
	Step          = form("s", "[ADDRESS]", maybeAddr)
	StepWith      = form("S", "SIGNAL[;ADDRESS]", signalled)
	Interrupt     = bare("vCtrlC")
	NonStop       = flag("QNonStop:")
	NextStop      = bare("vStopped")
	PassSignals   = signals("QPassSignals:")
	ThreadEvents  = flag("QThreadEvents:")
	BackContinue  = bare("bc")
	BackStep      = bare("bs")

	Run           = form("vRun;", "[HEXPATH][;HEXARGUMENT...]", program)
	Restart       = form("R", "NUMBER", func(f *rsp.Fields, n *uint64) { rsp.HexPadded(f, n, math.MaxUint64, 2) })
	Kill          = bare("k")
	KillProcess   = process("vKill;")
	Detach        = maybeProcess("D", ";")
	Attach        = process("vAttach;")
	SetVariable   = hexText("QEnvironmentHexEncoded:", "HEXVARIABLE")
	UnsetVariable = hexText("QEnvironmentUnset:", "HEXNAME")
	ResetVariable = bare("QEnvironmentReset")
	WorkingDir    = hexText("QSetWorkingDir:", "[HEXPATH]")
	StartByShell  = flag("QStartupWithShell:")
	FixedLayout   = flag("QDisableRandomization:")
	DisableASLR   = flag("QSetDisableASLR:") // FixedLayout, as LLDB has it
	SetStdin      = hexText("QSetSTDIN:", "[HEXPATH]")
	SetStdout     = hexText("QSetSTDOUT:", "[HEXPATH]")
	SetStderr     = hexText("QSetSTDERR:", "[HEXPATH]")

	ProgramSignals = signals("QProgramSignals:")
	CatchSyscalls  = form("QCatchSyscalls:", "0|1[;NUMBER...]", syscalls)

	InsertBreak = form("Z", "KIND,ADDRESS,LENGTH[;XLENGTH,HEXCODE...][;cmds:PERSIST,XLENGTH,HEXCODE...]", breakpoint)
	RemoveBreak = form("z", "KIND,ADDRESS,LENGTH", breakpoint)
)

// Action is one action of vCont.
type Action struct {
	Verb       byte      // c, C, s, S, r or t
	Signal     int       // of C and S
	Start, End arch.Addr // of r: step while the pc is in between
	// Thread is whom the action is for; without one, All is set: it is for every thread that no action before it names.
	Thread rsp.Thread
	All    bool
}

// actions are at least one. Of two that match a thread the first counts.
func actions(f *rsp.Fields, list *[]Action) { rsp.Some(f, list, ';', action) }

func action(f *rsp.Fields, a *Action) {
	if a.Verb = verb(f, a.Verb); a.Verb == 0 {
		f.Fail("one of the verbs c, C, s, S, r and t")
	}
	switch a.Verb {
	case 'C', 'S':
		twoDigits(f, &a.Signal)
	// The thread steps until its pc is outside of Start up to, not including, End.
	case 'r':
		addr(f, &a.Start)
		f.Literal(',')
		addr(f, &a.End)
	}
	if a.All = !f.Option(":", !a.All); !a.All {
		f.Thread(&a.Thread)
	}
}

func verb(f *rsp.Fields, v byte) byte {
	for _, one := range []byte("cCsSrt") {
		if f.Option(string(one), v == one) {
			return one
		}
	}
	return 0
}

// twoDigits is a signal as GDB writes it where there is one of them.
func twoDigits(f *rsp.Fields, v *int) { rsp.HexPadded(f, v, MaxSignal, 2) }

// Resumption is what the packets c, C, s and S say, which are older than vCont and for the thread of Hc.
type Resumption struct {
	Signal int // of C and S
	Addr   arch.Addr
	Moves  bool // the thread goes on at Addr
}

func maybeAddr(f *rsp.Fields, r *Resumption) {
	// Behind a signal a semicolon has been read.
	if r.Moves = f.More(r.Moves); r.Moves {
		addr(f, &r.Addr)
	}
}

func signalled(f *rsp.Fields, r *Resumption) {
	twoDigits(f, &r.Signal)
	if f.More(r.Moves) {
		f.Literal(';')
	}
	maybeAddr(f, r)
}

// Program is one to start. Without a path it is the one that ran last.
type Program struct {
	Path string
	Args []string
}

func program(f *rsp.Fields, p *Program) {
	// "vRun;" alone names neither a program nor arguments; an empty argument stands between two semicolons.
	rsp.HexBytes(f, &p.Path)
	if f.More(len(p.Args) > 0) {
		f.Literal(';')
		rsp.Some(f, &p.Args, ';', rsp.HexBytes[string])
	}
}

// Syscalls says whether to stop at system calls, and at which; without numbers, at all.
type Syscalls struct {
	On      bool
	Numbers []int
}

func syscalls(f *rsp.Fields, s *Syscalls) {
	f.Flag(&s.On)
	// QCatchSyscalls:0 takes no numbers.
	if s.On && f.More(len(s.Numbers) > 0) {
		f.Literal(';')
		rsp.Some(f, &s.Numbers, ';', func(f *rsp.Fields, n *int) { rsp.Hex(f, n, math.MaxInt32) })
	}
}

// Breakpoint is the arguments of Z and z.
type Breakpoint struct {
	Kind   int // 0 software breakpoint, 1 hardware breakpoint, 2 write, 3 read and 4 access watchpoint
	Addr   arch.Addr
	Length int // of what is watched; of breakpoints the kind of instruction

	Conditions [][]byte // agent expressions: the thread stops if there are none, or if one of them holds
	Commands   [][]byte // agent expressions that run in place of a stop
	Persistent bool     // the commands stay when the client has left
}

// breakpoint reads conditions and commands in any order, and writes them as the manual has it (Packets, z0).
func breakpoint(f *rsp.Fields, b *Breakpoint) {
	// GDB's kinds end at 4; others are for the stub to reject.
	rsp.Hex(f, &b.Kind, math.MaxUint8)
	f.Literal(',')
	addr(f, &b.Addr)
	f.Literal(',')
	rsp.Hex(f, &b.Length, math.MaxInt32)
	if f.Reading() {
		// GDB 13 writes conditions, and then commands; the manual allows either order.
		for f.More(false) {
			f.Literal(';')
			reaction(f, b, false)
		}
		return
	}
	if len(b.Conditions) > 0 {
		f.Literal(';')
		reaction(f, b, false)
	}
	if len(b.Commands) > 0 {
		f.Literal(';')
		reaction(f, b, true)
	}
}

// reaction is the conditions, or the commands.
func reaction(f *rsp.Fields, b *Breakpoint, commands bool) {
	if !f.Option("cmds:", commands) {
		codes(f, &b.Conditions)
		return
	}
	persistent := 0
	if b.Persistent {
		persistent = 1
	}
	// 1 after "set disconnected-dprintf on".
	rsp.Hex(f, &persistent, 1)
	b.Persistent = persistent == 1
	f.Literal(',')
	codes(f, &b.Commands)
}

// codes are one or more expressions with nothing between them.
func codes(f *rsp.Fields, list *[][]byte) {
	if !f.Reading() {
		for i := range *list {
			f.Code(&(*list)[i])
		}
		return
	}
	for more := true; more; more = f.Next('X', false) {
		var code []byte
		f.Code(&code)
		*list = append(*list, code)
	}
}
