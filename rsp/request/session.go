package request

import (
	"math"

	"tracewell/arch"
	"tracewell/rsp"
)

// Packets about the connection and about threads.
var (
	Supported       = form("qSupported", "[:FEATURE;...]", features)
	StartNoAckMode  = bare("QStartNoAckMode")
	Extended        = bare("!")
	MustReplyEmpty  = bare("vMustReplyEmpty")
	Agent           = flag("QAgent:")
	Symbol          = form("qSymbol:", "[VALUE]:[NAME]", symbol)
	Monitor         = hexText("qRcmd,", "HEXCOMMAND")
	Offsets         = bare("qOffsets")
	QEMUStepBits    = bare("qqemu.sstepbits")
	StopReason      = bare("?")
	SelectThread    = form("H", "g|c THREAD", selection)
	ThreadAlive     = form("T", "THREAD", (*rsp.Fields).Thread)
	CurrentThread   = bare("qC")
	FirstThreads    = bare("qfThreadInfo")
	MoreThreads     = bare("qsThreadInfo")
	ThreadName      = form("qThreadExtraInfo,", "THREAD", (*rsp.Fields).Thread)
	Attached        = maybeProcess("qAttached", ":")
	DescribeHost    = bare("qHostInfo")
	DescribeProcess = bare("qProcessInfo")
	DescribeThreads = bare("jThreadsInfo")
	ErrorStrings    = bare("QEnableErrorStrings")
	ThreadLocal     = form("qGetTLSAddr:", "THREAD,OFFSET,LINKMAP", local)
)

// features are read as GDB and gdbserver do: items that are none are left out.
func features(f *rsp.Fields, list *rsp.Features) {
	if f.Option(":", len(*list) > 0) || f.Reading() {
		f.Parsed(func(rest string) error {
			*list, _ = rsp.ParseFeatures(rest)
			return nil
		}, list.AppendText)
	}
}

// SymbolValue offers symbols, if both fields are empty, or says what a symbol is that the stub has asked for: Known is false
// for one that the client does not have either.
type SymbolValue struct {
	Known bool
	Value uint64
	Name  string
}

func symbol(f *rsp.Fields, s *SymbolValue) {
	// "qSymbol::" offers, and is the only one that GDB sends unless the stub asks.
	if s.Known = !f.Next(':', !s.Known); s.Known {
		rsp.Hex(f, &s.Value, math.MaxUint64)
	}
	f.Literal(':')
	rsp.HexBytes(f, &s.Name)
}

// Selection says for which packets a thread is selected: 'g' for those that read and write, 'c' for the old ones that resume.
type Selection struct {
	For byte
	rsp.Thread
}

func selection(f *rsp.Fields, s *Selection) {
	// A stub that supports vCont gets Hc only in front of old resumptions.
	if f.Option("c", s.For == 'c') {
		s.For = 'c'
	} else {
		f.Literal('g')
		s.For = 'g'
	}
	f.Thread(&s.Thread)
}

// Local is a thread's own variable: at an offset in the object of that entry of the dynamic linker's list.
type Local struct {
	Thread  rsp.Thread
	Offset  uint64
	LinkMap arch.Addr
}

func local(f *rsp.Fields, l *Local) {
	f.Thread(&l.Thread)
	f.Literal(',')
	rsp.Hex(f, &l.Offset, math.MaxUint64)
	f.Literal(',')
	addr(f, &l.LinkMap)
}

// Client is what a client announces by qSupported that changes how a stub talks to it.
type Client uint16

// The features of clients.
const (
	Multiprocess  Client = 1 << iota // thread-ids with a process
	SwBreak                          // stop replies with swbreak
	HwBreak                          // and hwbreak
	ExecEvents                       // and exec
	ForkEvents                       // and fork
	VforkEvents                      // and vfork and vforkdone
	NoResumed                        // the stop reply N
	ErrorMessages                    // E. and a text in reply to every packet
	RelocInsn                        // qRelocInsn: it makes copies of instructions when asked
)

// clientFeatures are their names, by bit.
var clientFeatures = [...]string{
	"multiprocess", "swbreak", "hwbreak", "exec-events", "fork-events", "vfork-events", "no-resumed", "error-message", "qRelocInsn",
}

// ClientOf picks the features of clients out of a list.
func ClientOf(list rsp.Features) (c Client) {
	for i, name := range clientFeatures {
		if list.Has(name) {
			c |= 1 << i
		}
	}
	return c
}

// Has reports whether c has all of some features.
func (c Client) Has(some Client) bool { return c&some == some }

// Features lists them as a client announces them.
func (c Client) Features() (list rsp.Features) {
	for i, name := range clientFeatures {
		if c.Has(1 << i) {
			list = append(list, rsp.Feature{Name: name, Mark: rsp.Supported})
		}
	}
	return list
}
