package dap

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	protocol "github.com/google/go-dap"

	"tracewell/arch"
	"tracewell/arch/flow"
	"tracewell/internal/text"
)

// address reads an address as this adapter writes them, or a number.
func address(reference string, offset int) (arch.Addr, error) {
	n, err := strconv.ParseUint(strings.TrimSpace(reference), 0, 64)
	if err != nil {
		return 0, fmt.Errorf("%.40q is no address", reference)
	}
	return arch.Addr(n) + arch.Addr(offset), nil
}

// readMemory reads memory of where the debuggee stands. What is not known ends it.
func readMemory(s *session, a *protocol.ReadMemoryArguments) (any, error) {
	at, err := address(a.MemoryReference, a.Offset)
	if err != nil {
		return nil, err
	}
	const most = 1 << 20
	if a.Count < 0 || a.Count > most {
		return nil, fmt.Errorf("%d bytes: at most %d can be read at once", a.Count, most)
	}
	c, err := s.callOf(0)
	if err != nil {
		return nil, err
	}
	b := make([]byte, a.Count)
	n := c.moment.ReadMemory(at, b)
	body := protocol.ReadMemoryResponseBody{Address: at.String(), Data: base64.StdEncoding.EncodeToString(b[:n]),
		UnreadableBytes: a.Count - n}
	return body, nil
}

// coder is a debuggee that knows instructions which no program tells.
type coder interface {
	// code is the instruction at an address, as it was executed, and its words; nil if it was not.
	code(at arch.Addr) (bytes []byte, words string)
}

// disassemble lists instructions. In front of an address they are found from the beginning of its function: there is no other way
// to go backwards through instructions of different lengths.
func disassemble(s *session, a *protocol.DisassembleArguments) (any, error) {
	at, err := address(a.MemoryReference, a.Offset)
	if err != nil {
		return nil, err
	}
	const most = 10000
	if a.InstructionCount < 0 || a.InstructionCount > most || a.InstructionOffset < -most || a.InstructionOffset > most {
		return nil, fmt.Errorf("at most %d instructions can be disassembled at once", most)
	}
	list, first := s.instructions(at, a.InstructionOffset), 0
	here := slices.IndexFunc(list, func(i instruction) bool { return i.addr >= at })
	if here < 0 {
		here = len(list)
	}
	first = here + a.InstructionOffset
	body := protocol.DisassembleResponseBody{Instructions: []protocol.DisassembledInstruction{}}
	for i := first; i < first+a.InstructionCount; i++ {
		switch {
		case i < 0:
			// The protocol wants exactly as many as it asked for.
			before := list0(list, at) + arch.Addr(i)
			nothing := protocol.DisassembledInstruction{Address: before.String(), Instruction: unknownCode}
			body.Instructions = append(body.Instructions, nothing)
			continue
		case i >= len(list):
			next := at
			if len(list) > 0 {
				next = list[len(list)-1].next()
			}
			list = append(list, s.instruction(next))
		}
		body.Instructions = append(body.Instructions, s.disassembled(list[i]))
	}
	return body, nil
}

// list0 is where a list begins.
func list0(list []instruction, at arch.Addr) arch.Addr {
	if len(list) > 0 {
		return list[0].addr
	}
	return at
}

// instruction is one instruction, or a byte that is none.
type instruction struct {
	addr  arch.Addr
	bytes []byte // none if nothing is known
	words string
}

func (i instruction) next() arch.Addr { return i.addr + arch.Addr(max(1, len(i.bytes))) }

// instructions lists those from the beginning of the function up to an address, if some in front of it are wanted.
func (s *session) instructions(at arch.Addr, offset int) (list []instruction) {
	n := s.debuggee.names()
	if n.program == nil || offset >= 0 {
		return []instruction{s.instruction(at)}
	}
	symbol, distance, ok := n.program.SymbolAt(at)
	const farthest = 1 << 16 // bytes of a function that are gone through
	if !ok || !symbol.Function || distance > farthest {
		return []instruction{s.instruction(at)}
	}
	for pc := symbol.Addr; pc <= at; {
		i := s.instruction(pc)
		list = append(list, i)
		pc = i.next()
	}
	return list
}

// unknownCode stands for an instruction of which neither the trace nor the program tells anything.
const unknownCode = "(nothing is known)"

// longest is the length in bytes of the longest instruction of any machine.
const longest = 15

// instruction disassembles one. What the trace has is preferred: the program may have written its code.
func (s *session) instruction(at arch.Addr) instruction {
	n := s.debuggee.names()
	i := instruction{addr: at}
	if c, ok := s.debuggee.(coder); ok {
		if i.bytes, i.words = c.code(at); i.bytes != nil && i.words != "" {
			return i
		}
	}
	if i.bytes == nil && n.program != nil {
		if o := n.program.ObjectAt(at); o != nil {
			i.bytes = o.Code(at, longest)
		}
	}
	if len(i.bytes) == 0 {
		i.bytes, i.words = nil, unknownCode
		return i
	}
	words, length := flow.Words(n.machine, i.bytes, uint64(at), func(addr uint64) (string, uint64) {
		if n.program == nil {
			return "", 0
		}
		found, offset, ok := n.program.SymbolAt(arch.Addr(addr))
		if !ok {
			return "", 0
		}
		return found.Name, addr - offset
	})
	i.bytes, i.words = i.bytes[:min(max(length, 1), len(i.bytes))], words
	return i
}

// disassembled is an instruction as clients see it.
func (s *session) disassembled(i instruction) protocol.DisassembledInstruction {
	d := protocol.DisassembledInstruction{Address: i.addr.String(), Instruction: text.Visible(i.words)}
	var pairs []string
	for _, b := range i.bytes {
		pairs = append(pairs, fmt.Sprintf("%02x", b))
	}
	d.InstructionBytes = strings.Join(pairs, " ")
	if p := s.debuggee.names().program; p != nil {
		d.Symbol = text.Visible(p.Describe(i.addr))
		if line, ok := p.Line(i.addr); ok {
			d.Location, d.Line = s.source(line.File), s.client.toClient(line.Number)
		}
	}
	return d
}

// modules lists the files of the program.
func modules(s *session, a *protocol.ModulesArguments) (any, error) {
	body := protocol.ModulesResponseBody{Modules: []protocol.Module{}}
	p := s.debuggee.names().program
	if p == nil {
		return body, nil
	}
	objects := p.Objects()
	body.TotalModules = len(objects)
	to := len(objects)
	if a.ModuleCount > 0 {
		to = min(to, a.StartModule+a.ModuleCount)
	}
	for i := max(a.StartModule, 0); i < to; i++ {
		o := objects[i]
		status := "symbols"
		if o.File().HasDWARF() {
			status = "debug information"
		}
		body.Modules = append(body.Modules, protocol.Module{Id: o.Path(), Name: text.Visible(lastElement(o.Path())), Path: o.Path(),
			SymbolStatus: status, SymbolFilePath: o.File().DebugPath(), IsUserCode: i == 0,
			AddressRange: (o.Bias() + o.File().Base()).String()})
	}
	return body, nil
}

// breakpointLocations lists the lines of a range that have code, or tracepoints.
func breakpointLocations(s *session, a *protocol.BreakpointLocationsArguments) (any, error) {
	body := protocol.BreakpointLocationsResponseBody{Breakpoints: []protocol.BreakpointLocation{}}
	n := s.debuggee.names()
	from, to := s.client.fromClient(a.Line), s.client.fromClient(max(a.Line, a.EndLine))
	const most = 10000
	if n.program == nil || a.Source.Path == "" {
		return body, nil
	}
	for line := max(from, 1); line <= min(to, from+most); line++ {
		where, err := s.sources.locate(n.program, sourceLine{a.Source.Path, line})
		if errors.Is(err, errNoSource) {
			break
		}
		if err != nil || len(where) == 0 || where[0].Line != line {
			continue
		}
		body.Breakpoints = append(body.Breakpoints, protocol.BreakpointLocation{Line: s.client.toClient(line)})
	}
	return body, nil
}
