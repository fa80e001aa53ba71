package request

import (
	"math"

	"tracewell/arch"
	"tracewell/rsp"
	"tracewell/trace"
)

// Packets of tracepoints. Definitions are read and written by package trace, which reads trace files by the same code.
var (
	TraceInit         = bare("QTinit")
	DefineTracepoint  = form("QTDP:", "NUMBER:ADDRESS:E|D:STEP:PASS[:FLENGTH][:S][:XLENGTH,HEXCODE][-]", definition)
	AddActions        = form("QTDP:-", "NUMBER:ADDRESS:[S]ACTION...[-]", tracepointActions)
	AddSource         = form("QTDPsrc:", "NUMBER:ADDRESS:at|cond|cmd:START:LENGTH:HEXTEXT", source)
	EnableTracepoint  = form("QTEnable:", "NUMBER:ADDRESS", key)
	DisableTracepoint = form("QTDisable:", "NUMBER:ADDRESS", key)
	DefineVariable    = form("QTDV:", "NUMBER:VALUE:BUILTIN:HEXNAME", variable)
	ReadOnlyRanges    = form("QTro:", "START,END:...", ranges)
	FirstMarkers      = bare("qTfSTM")
	MoreMarkers       = bare("qTsSTM")
	MarkerAt          = form("qTSTMat:", "ADDRESS", addr)
	TraceStart        = bare("QTStart")
	TraceStop         = bare("QTStop")
	Disconnected      = flag("QTDisconnected:")
	CircularBuffer    = flag("QTBuffer:circular:")
	BufferSize        = form("QTBuffer:size:", "LENGTH|-1", bufferSize)
	TraceNotes        = form("QTNotes:", "[user:HEXTEXT;][notes:HEXTEXT;][tstop:HEXTEXT;]", notes)
	TraceStatus       = bare("qTStatus")
	TracepointCounts  = form("qTP:", "NUMBER:ADDRESS", key)
	VariableValue     = form("qTV:", "NUMBER", func(f *rsp.Fields, n *trace.VariableNumber) { rsp.Hex(f, n, math.MaxUint16) })
	FirstPiece        = bare("qTfP")
	MorePieces        = bare("qTsP")
	FirstVariable     = bare("qTfV")
	MoreVariables     = bare("qTsV")
	ShortestFast      = bare("qTMinFTPILen")
	SelectFrame       = form("QTFrame:", "NUMBER|pc:ADDRESS|tdp:NUMBER|range:START:END|outside:START:END", frame)
	ReadBuffer        = form("qTBuffer:", "OFFSET,LENGTH", bufferPart)
	SaveTrace         = form("QTSave:", "HEXNAME", rsp.HexBytes[string])
	// Relocated and NotRelocated are the client's answers to the stub's question qRelocInsn:FROM;TO.
	Relocated    = form("qRelocInsn:", "SIZE", func(f *rsp.Fields, n *int) { rsp.Hex(f, n, math.MaxInt32) })
	NotRelocated = form("E", "NUMBER|.TEXT", rsp.Rest[string])
)

// Definition defines a tracepoint. More says that packets with its actions may follow.
type Definition struct {
	Tracepoint trace.Tracepoint
	More       bool
}

func definition(f *rsp.Fields, d *Definition) {
	f.Parsed(func(rest string) (err error) {
		// Actions follow in packets of their own, so a definition has none.
		d.Tracepoint, d.More, err = trace.ParseQTDP(rest)
		return err
	}, func(dst []byte) []byte { return d.Tracepoint.AppendQTDP(dst, d.More) })
}

func tracepointActions(f *rsp.Fields, a *trace.ActionPacket) {
	f.Parsed(func(rest string) (err error) {
		// Which tracepoint they belong to is in the packet; in which order they came is for the stub to keep.
		*a, err = trace.ParseQTDPActions(rest)
		return err
	}, a.AppendText)
}

func source(f *rsp.Fields, p *trace.SourcePiece) {
	f.Parsed(func(rest string) (err error) {
		// A long text comes in parts, each with its place in the whole.
		*p, err = trace.ParseQTDPSource(rest)
		return err
	}, func(dst []byte) []byte { return append(dst, p.String()...) })
}

func variable(f *rsp.Fields, v *trace.Variable) {
	f.Parsed(func(rest string) (err error) {
		*v, err = trace.ParseVariable(rest)
		return err
	}, func(dst []byte) []byte { return append(dst, v.String()...) })
}

func key(f *rsp.Fields, k *trace.Key) {
	// Number and address together name a location: a tracepoint of GDB's may have several.
	rsp.Hex(f, &k.Number, math.MaxInt32)
	f.Literal(':')
	addr(f, &k.Addr)
}

// Range is memory from Start up to End, which is not part of it.
type Range struct{ Start, End arch.Addr }

func ranges(f *rsp.Fields, list *[]Range) {
	rsp.List(f, list, ':', func(f *rsp.Fields, r *Range) {
		addr(f, &r.Start)
		f.Literal(',')
		addr(f, &r.End)
	})
}

// bufferSize is bytes, or -1 for the stub's own choice. GDB sends that as -1, or as its 32 or 64 bits.
func bufferSize(f *rsp.Fields, size *int64) {
	if f.Option("-1", *size < 0) {
		*size = -1
		return
	}
	n := uint64(*size)
	// A size of 4 GB less one byte is not told from -1, and nobody wants it.
	if rsp.Hex(f, &n, math.MaxUint64); n == math.MaxUint32 || n == math.MaxUint64 {
		*size = -1
		return
	}
	*size = int64(min(n, math.MaxInt64))
}

// Note is one of the texts of a trace run. Key is user, notes or tstop.
type Note struct{ Key, Text string }

func notes(f *rsp.Fields, list *[]Note) {
	rsp.Ended(f, list, ';', func(f *rsp.Fields, n *Note) {
		// GDB sends user, notes and tstop in one packet or apart; texts may be empty, which removes them.
		n.Key = noteKey(f, n.Key)
		f.Literal(':')
		rsp.HexBytes(f, &n.Text)
	})
}

func noteKey(f *rsp.Fields, key string) string {
	for _, known := range []string{"user", "notes", "tstop"} {
		if f.Option(known, key == known) {
			return known
		}
	}
	f.Fail("user, notes or tstop")
	return ""
}

// FrameQuery says which frame is to be selected. Those with a keyword are looked for behind the selected frame.
type FrameQuery struct {
	By        FrameKey
	Number    uint64 // of a frame, or with ByTracepoint of a tracepoint, in 32 bits
	Low, High arch.Addr
}

// LeaveFrames is the number of a frame that stands for the program as it is now.
const LeaveFrames = math.MaxUint32

// FrameKey is the keyword of a FrameQuery, with its colon.
type FrameKey string

// The keywords. ByNumber is none.
const (
	ByNumber     FrameKey = ""
	ByPC         FrameKey = "pc:"
	ByTracepoint FrameKey = "tdp:"
	ByRange      FrameKey = "range:"
	ByOutside    FrameKey = "outside:"
)

func frame(f *rsp.Fields, q *FrameQuery) {
	for _, by := range []FrameKey{ByPC, ByTracepoint, ByRange, ByOutside} {
		if f.Option(string(by), q.By == by) {
			q.By = by
			frameOperands(f, q)
			return
		}
	}
	// GDB sends the 32 bits of -1, which is a number like any other here; the sign is for other clients.
	if f.Option("-1", false) {
		q.Number = LeaveFrames
		return
	}
	rsp.Hex(f, &q.Number, math.MaxUint64)
}

func frameOperands(f *rsp.Fields, q *FrameQuery) {
	if q.By == ByTracepoint {
		// "tfind tracepoint" without a number sends that of the current frame.
		rsp.Hex(f, &q.Number, math.MaxUint32)
		return
	}
	// Both ends of a range belong to it.
	addr(f, &q.Low)
	if q.By != ByPC {
		f.Literal(':')
		addr(f, &q.High)
	}
}

// BufferPart asks for a part of the trace buffer.
type BufferPart struct {
	Offset int64
	Length uint64
}

func bufferPart(f *rsp.Fields, p *BufferPart) {
	rsp.Hex(f, &p.Offset, math.MaxInt64)
	f.Literal(',')
	rsp.Hex(f, &p.Length, math.MaxUint64)
}
