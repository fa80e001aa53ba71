package request

import (
	"math"

	"tracewell/arch"
	"tracewell/rsp"
)

// Packets about registers, memory and objects.
var (
	ReadRegisters    = bare("g")
	WriteRegisters   = form("G", "HEXBLOCK", rsp.HexRest[[]byte])
	ReadRegister     = form("p", "REGISTER", register)
	WriteRegister    = form("P", "REGISTER=HEXVALUE", registerValue)
	ReadMemory       = form("m", "ADDRESS,LENGTH", extent)
	ReadMemoryBinary = form("x", "ADDRESS,LENGTH", extent)
	WriteMemory      = form("M", "ADDRESS,LENGTH:HEXBYTES", func(f *rsp.Fields, m *Memory) {
		memoryExtent(f, m)
		// GDB sends M to a stub that answers X with the empty reply.
		rsp.HexBytes(f, &m.Bytes)
	})
	WriteMemoryBinary = binary("X", "ADDRESS,LENGTH:BINARY", func(f *rsp.Fields, m *Memory) {
		memoryExtent(f, m)
		rsp.Rest(f, &m.Bytes)
	})
	SearchMemory  = binary("qSearch:memory:", "ADDRESS;LENGTH;BINARY", search)
	Checksum      = form("qCRC:", "ADDRESS,LENGTH", extent)
	MemoryRegion  = form("qMemoryRegionInfo:", "ADDRESS", addr)
	Allocate      = form("_M", "LENGTH,[r][w][x]", allocation)
	Release       = form("_m", "ADDRESS", addr)
	LinkerPointer = bare("qShlibInfoAddr")

	ReadFeatures   = transfer("features", "target.xml:OFFSET,LENGTH")
	ReadThreads    = transfer("threads", ":OFFSET,LENGTH")
	ReadAuxv       = transfer("auxv", ":OFFSET,LENGTH")
	ReadExecFile   = transfer("exec-file", "[PID]:OFFSET,LENGTH")
	ReadLibraries  = transfer("libraries-svr4", "[start=ADDRESS;prev=ADDRESS;lmid=ADDRESS]:OFFSET,LENGTH")
	ReadMemoryMap  = transfer("memory-map", ":OFFSET,LENGTH")
	ReadSiginfo    = transfer("siginfo", ":OFFSET,LENGTH")
	WriteSiginfo   = binary("qXfer:siginfo:write:", ":OFFSET:BINARY", objectWrite)
	ReadOSTable    = transfer("osdata", "[TABLE]:OFFSET,LENGTH")
	ReadStatic     = transfer("statictrace", ":OFFSET,LENGTH")
	ReadTraceframe = transfer("traceframe-info", ":OFFSET,LENGTH")
)

func addr(f *rsp.Fields, v *arch.Addr) { rsp.Hex(f, v, math.MaxUint64) }

// register is the number of the target description, or GDB's own for the machine where there is none.
func register(f *rsp.Fields, r *arch.Reg) { rsp.Hex(f, r, math.MaxInt32) }

// RegisterValue is a register and its bytes in the target's order.
type RegisterValue struct {
	Register arch.Reg
	Value    []byte
}

func registerValue(f *rsp.Fields, r *RegisterValue) {
	register(f, &r.Register)
	f.Literal('=')
	// As many bytes as the register has, in the target's order: xx is not allowed here.
	rsp.HexBytes(f, &r.Value)
}

// Extent is a range of memory.
type Extent struct {
	Addr   arch.Addr
	Length uint64
}

// extent may reach beyond the end of the address space: a stub reads what there is.
func extent(f *rsp.Fields, e *Extent) {
	addr(f, &e.Addr)
	f.Literal(',')
	rsp.Hex(f, &e.Length, math.MaxUint64)
}

// Memory is bytes for a range of memory. Parsing does not hold Bytes against Length: a stub has to.
type Memory struct {
	Extent
	Bytes []byte
}

// Bytes is the Memory of b at an address.
func Bytes(at arch.Addr, b []byte) Memory { return Memory{Extent{at, uint64(len(b))}, b} }

func memoryExtent(f *rsp.Fields, m *Memory) {
	extent(f, &m.Extent)
	f.Literal(':')
}

// Search is a range of memory and the bytes that are to be found in it.
type Search struct {
	Extent
	Pattern []byte
}

func search(f *rsp.Fields, s *Search) {
	// Semicolons, where other packets of memory have commas: the pattern may hold any byte.
	addr(f, &s.Addr)
	f.Literal(';')
	rsp.Hex(f, &s.Length, math.MaxUint64)
	f.Literal(';')
	rsp.Rest(f, &s.Pattern)
}

// Allocation asks for memory of the program, and says what for.
type Allocation struct {
	Length            uint64
	Read, Write, Exec bool
}

func allocation(f *rsp.Fields, a *Allocation) {
	rsp.Hex(f, &a.Length, math.MaxUint64)
	f.Literal(',')
	a.Read = f.Option("r", a.Read)
	a.Write = f.Option("w", a.Write)
	a.Exec = f.Option("x", a.Exec)
}

// Part asks for a part of an object of qXfer. The annex says which object of its kind is meant.
type Part struct {
	Annex          string
	Offset, Length uint64
}

// transfer is the packet that reads a kind of object.
func transfer(object, syntax string) *Form[Part] { return form("qXfer:"+object+":read:", syntax, part) }

// Transfer returns the form that reads a kind of object, also one that is not in the table.
func Transfer(object string) *Form[Part] { return transfer(object, "[ANNEX]:OFFSET,LENGTH") }

// part reads the annex up to the last colon, since it may hold colons itself.
func part(f *rsp.Fields, p *Part) {
	f.UntilLast(':', &p.Annex)
	f.Literal(':')
	rsp.Hex(f, &p.Offset, math.MaxUint64)
	f.Literal(',')
	rsp.Hex(f, &p.Length, math.MaxUint64)
}

// ObjectWrite is bytes for an object of qXfer that has no annex.
type ObjectWrite struct {
	Offset uint64
	Bytes  []byte
}

func objectWrite(f *rsp.Fields, w *ObjectWrite) {
	f.Literal(':')
	rsp.Hex(f, &w.Offset, math.MaxUint64)
	f.Literal(':')
	rsp.Rest(f, &w.Bytes)
}
