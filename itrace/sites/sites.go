package sites

import (
	"bytes"

	"tracewell/arch/flow"
	"tracewell/itrace"
	"tracewell/itrace/program"
)

// Site is an address at which something was executed.
type Site struct {
	PC       uint64
	Flow     flow.Flow
	Told     bool   // Flow is known
	Leader   bool   // something other than the instruction in front of it led here
	State    byte   // of the instruction set, as the trace tells it
	Mnemonic string // in lower case; "" if it is not known
	Function int32  // number in Program.Functions, or what the user of the table makes of it; negative for none
	Count    uint64
	Taken    uint64 // of a branch, call or return: how often it went elsewhere
	Past     uint64 // how often it went on behind itself

	opcode uint64
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

// At is the number of the site at an address, of which nothing may have been executed.
func (t *Table) At(pc uint64) int {
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
	s.State, s.Told, s.Flow, s.Mnemonic, s.opcode = r.State, false, flow.Flow{}, "", 0
	set := t.Set
	if set != nil {
		set = set.In(r.State)
	}
	if len(r.Digits) > 0 { // also where they are not all of it
		s.opcode = r.Value
		if set != nil && !r.Wild {
			s.decode(set, set.Bytes(r.Value, (len(r.Digits)+1)/2))
		}
	}
	if t.Program != nil && set != nil && (!s.Told || s.Flow.Len == 0) {
		if code := t.Program.Code(s.PC); code != nil {
			s.decode(set, code)
		}
	}
	if len(r.Disasm) > 0 {
		if !s.Told {
			s.Flow, s.Told = flow.OfText(string(r.Disasm)), true
		}
		s.Mnemonic = firstWord(r.Disasm)
	}
}

func (s *Site) decode(set *flow.Set, code []byte) {
	s.Flow, s.Told, s.Mnemonic = set.Decode(code, s.PC), true, set.Mnemonic(code, s.PC)
}

// firstWord is the mnemonic of a disassembly.
func firstWord(disasm []byte) string {
	disasm = bytes.TrimLeft(disasm, " \t")
	if end := bytes.IndexAny(disasm, " \t"); end >= 0 {
		disasm = disasm[:end]
	}
	return string(bytes.ToLower(disasm))
}
