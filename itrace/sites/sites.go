package sites

import (
	"bytes"
	"strings"

	"tracewell/arch/flow"
	"tracewell/itrace"
	"tracewell/itrace/program"
)

// Site is an address at which something was executed.
type Site struct {
	PC       uint64
	Flow     flow.Flow
	Told     bool  // Flow is known
	Leader   bool  // something other than the instruction in front of it led here
	State    byte  // of the instruction set, as the trace tells it
	Function int32 // number in Program.Functions, or what the user of the table makes of it; negative for none
	Count    uint64
	Taken    uint64 // of a branch, call or return: how often it went elsewhere
	Past     uint64 // how often it went on behind itself

	opcode uint64
	size   uint8  // bytes of opcode as it was written; 0 if it was not told
	words  string // the mnemonic by the trace's disassembly
}

const (
	pageBits  = 9
	pageSize  = 1 << pageBits
	cacheSize = 256
)

// page has the numbers of the sites of a piece of the address space, from 1 on.
type page [pageSize]int32

// Table is all sites. Use it by one goroutine.
type Table struct {
	Sites   []Site
	Program *program.Program // nil if it is not known
	Set     *flow.Set        // nil if it is not known: then the words of disassembly count
	Opcodes bool             // the trace tells some

	code   []byte // of the instruction that is looked at
	pages  map[uint64]*page
	recent [cacheSize]struct {
		key  uint64 // of the page, plus 1
		page *page
	}
}

// New returns an empty table.
func New(p *program.Program, set *flow.Set) *Table {
	return &Table{Program: p, Set: set, pages: make(map[uint64]*page)}
}

// Number is the number of the site that a record of an instruction is at; it is counted there.
func (t *Table) Number(r *itrace.Record) int {
	n := t.At(r.Addr)
	s := &t.Sites[n]
	if s.Count == 0 || s.opcode != r.Value && len(r.Digits) > 0 {
		t.classify(s, r)
	}
	s.Count++
	return n
}

// Narrow is an address as the program has it: producers write those of 32 bits with the sign in front, or without.
func (t *Table) Narrow(pc uint64) uint64 {
	if t.Set != nil && t.Set.Bits == 32 {
		return uint64(uint32(pc))
	}
	return pc
}

// At is the number of the site at an address, of which nothing may have been executed.
func (t *Table) At(pc uint64) int {
	pc = t.Narrow(pc)
	key := pc >> pageBits
	recent := &t.recent[key%cacheSize]
	if recent.key != key+1 {
		recent.key, recent.page = key+1, t.page(key)
	}
	slot := &recent.page[pc%pageSize]
	if *slot == 0 {
		t.add(pc)
		*slot = int32(len(t.Sites))
	}
	return int(*slot) - 1
}

// Find is the number of the site at an address, negative if nothing was executed there.
func (t *Table) Find(pc uint64) int {
	pc = t.Narrow(pc)
	p := t.pages[pc>>pageBits]
	if p == nil {
		return -1
	}
	return int(p[pc%pageSize]) - 1
}

// Reset forgets all counts.
func (t *Table) Reset() {
	for i := range t.Sites {
		s := &t.Sites[i]
		s.Count, s.Taken, s.Past = 0, 0, 0
	}
}

func (t *Table) page(key uint64) *page {
	p := t.pages[key]
	if p == nil {
		p = new(page)
		t.pages[key] = p
	}
	return p
}

func (t *Table) add(pc uint64) {
	s := Site{PC: pc, Function: -1}
	if t.Program != nil {
		s.Function = int32(t.Program.At(pc))
		if s.Function >= 0 {
			s.Function = int32(t.Program.Functions[s.Function].Whole)
		}
	}
	t.Sites = append(t.Sites, s)
}

// classify finds out what an instruction does.
func (t *Table) classify(s *Site, r *itrace.Record) {
	s.State, s.Told, s.Flow, s.opcode, s.size = r.State, false, flow.Flow{}, 0, 0
	set := t.set(s)
	if len(r.Digits) > 0 { // also where they are not all of it
		s.opcode, t.Opcodes = r.Value, true
		if set != nil && !r.Wild {
			s.size = uint8(min((len(r.Digits)+1)/2, 8))
			t.code = set.Append(t.code[:0], s.opcode, int(s.size))
			s.Flow, s.Told = set.Decode(t.code, s.PC), true
		}
	}
	if t.Program != nil && set != nil && (!s.Told || s.Flow.Len == 0) {
		if code := t.Program.Code(s.PC); code != nil {
			s.Flow, s.Told, s.size = set.Decode(code, s.PC), true, 0
		}
	}
	s.Flow.Target = t.Narrow(s.Flow.Target)
	if word := firstWord(r.Disasm); string(word) != s.words {
		s.words = string(word)
	}
	if len(r.Disasm) > 0 && !s.Told {
		s.Flow, s.Told = flow.OfText(string(r.Disasm)), true
	}
}

// set is the instruction set at a site, nil if it is not known.
func (t *Table) set(s *Site) *flow.Set {
	if t.Set == nil {
		return nil
	}
	return t.Set.In(s.State)
}

// Mnemonic is the name of the instruction at a site in lower case, as the trace has it, else by its code; "" if it is not known.
func (t *Table) Mnemonic(n int) string {
	s := &t.Sites[n]
	set := t.set(s)
	switch {
	case s.words != "" || set == nil:
		return strings.ToLower(s.words)
	case s.size > 0:
		return set.Mnemonic(set.Append(nil, s.opcode, int(s.size)), s.PC)
	case t.Program != nil:
		return set.Mnemonic(t.Program.Code(s.PC), s.PC)
	}
	return ""
}

// firstWord is the mnemonic of a disassembly.
func firstWord(disasm []byte) []byte {
	disasm = bytes.TrimLeft(disasm, " \t")
	if end := bytes.IndexAny(disasm, " \t"); end >= 0 {
		disasm = disasm[:end]
	}
	return disasm
}
