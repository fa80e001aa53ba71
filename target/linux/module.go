//go:build linux

package linux

import (
	"cmp"
	"debug/elf"
	"debug/gosym"
	"fmt"
	"os"
	"slices"
	"time"

	"tracewell/arch"
	"tracewell/internal/fast/jump"
	"tracewell/internal/radix"
	"tracewell/internal/routine"
	"tracewell/internal/sys"
	"tracewell/symbol/debuginfo"
)

// module is one mapping of code, with what is known of it to patch it with jumps.
type module struct {
	text      jump.Range
	mapping   sys.Mapping // the same, as it was
	modified  time.Time   // of the file, zero if that is not known
	planner   *jump.Planner
	isGo      bool        // some of it is of Go
	functions []function  // in order of their addresses; none in a file that cannot be read
	longest   arch.Addr   // length of the longest of them
	landings  []arch.Addr // where exceptions go on
}

// function is a function, or a part of one.
type function struct {
	jump.Range
	golang *gosym.Func // nil for one of C
}

// name is that of a function of Go, empty for one of C.
func (f *function) name() string {
	if f.golang == nil {
		return ""
	}
	return f.golang.Name
}

// moduleAt finds the module that an address is in, or makes it.
func (p *process) moduleAt(addr arch.Addr, area *padArea) (*module, error) {
	s := p.pads
	for _, m := range s.modules {
		if m.text.Start <= addr && addr < m.text.End {
			return m, nil
		}
	}
	maps, err := sys.Mappings(p.alive())
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(maps, func(m sys.Mapping) bool { return m.Start <= uint64(addr) && uint64(addr) < m.End })
	switch {
	case i < 0 || !maps[i].Exec:
		return nil, fmt.Errorf("there is no code at %s", addr)
	case !maps[i].Private: // a jump would be in their way, too
		return nil, fmt.Errorf("the code at %s is shared with other processes", addr)
	case maps[i].Write: // what is written there later would not be known
		return nil, fmt.Errorf("the program can write its code at %s", addr)
	}
	if s.room == nil { // one for all modules, or two would open the same page
		s.room = jump.NewRoom(gaps(maps))
	}
	m := &module{text: jump.Range{Start: arch.Addr(maps[i].Start), End: arch.Addr(maps[i].End)}, mapping: maps[i]}
	if status, err := os.Stat(m.path(p.pid)); err == nil {
		m.modified = status.ModTime()
	}
	m.readFile(p, maps[i])
	m.planner = &jump.Planner{
		Targets: jump.NewTargets(m.text), Room: s.room, Pads: area.padRange(),
		Go: m.isGo, ShadowStack: p.shadowStack,
	}
	for _, at := range m.landings {
		m.planner.Targets.Add(at)
	}
	if !p.launched { // it outlives a tracer that is killed, and dies of a guard then
		m.planner.NoUnclean = "the program was attached to, and is not to come to the middle of a jump when the tracer is gone"
	}
	s.modules = append(s.modules, m)
	return m, nil
}

// gaps are the addresses at which a program has nothing mapped, but for what mappings may soon grow into.
func gaps(maps []sys.Mapping) (free []jump.Range) {
	floor := arch.Addr(lowestMapping)
	for _, m := range append(slices.Clone(maps), sys.Mapping{Start: uint64(userEnd), End: uint64(userEnd)}) {
		start, end := floor, arch.Addr(min(m.Start, uint64(userEnd)))
		if start += clearance; start+clearance < end {
			free = append(free, jump.Range{Start: start, End: end - clearance})
		}
		floor = max(floor, arch.Addr(m.End))
	}
	return free
}

// readFile reads what the file of a mapping says of the code: where functions are, and where exceptions go on. A file that cannot
// be read says nothing.
func (m *module) readFile(p *process, mapping sys.Mapping) {
	f, err := files{}.Open(p.pid, mapping.Path, os.O_RDONLY, 0)
	if err != nil {
		return
	}
	defer f.Close()
	file, err := elf.NewFile(f)
	if err != nil {
		return
	}
	m.isGo = file.Section(".gopclntab") != nil
	if bias, ok := biasOf(file, mapping); ok {
		m.addFunctions(file, bias)
	}
}

// addFunctions adds the functions of a file: of its symbols, and of what survives strip, the tables for unwinding and those of Go's
// runtime.
func (m *module) addFunctions(file *elf.File, bias arch.Addr) {
	add := func(start, end arch.Addr, golang *gosym.Func) {
		if start += bias; start < end+bias && m.text.Start <= start && end+bias <= m.text.End {
			m.functions = append(m.functions, function{jump.Range{Start: start, End: end + bias}, golang})
		}
	}
	// The first of several at one address is what counts. What Go's runtime does not know is of C, also in a Go program.
	if m.isGo {
		list := goFunctions(file)
		for i := range list {
			add(arch.Addr(list[i].Entry), arch.Addr(list[i].End), &list[i])
		}
	}
	var extents *debuginfo.Extents
	var reader routine.Group
	reader.Go(func() { extents = debuginfo.ReadExtents(file) })
	number := len(m.functions)
	debuginfo.EachFunction(file, func(debuginfo.Range) { number++ })
	m.functions = slices.Grow(m.functions, number)
	debuginfo.EachFunction(file, func(r debuginfo.Range) { add(r.Begin, r.End, nil) })
	m.functions = arranged(m.functions)
	known := m.functions
	reader.Wait()
	for _, e := range extents.List {
		// Nearly all of them have symbols, too.
		for len(known) > 0 && known[0].Start < e.Begin+bias {
			known = known[1:]
		}
		if len(known) == 0 || known[0].Start != e.Begin+bias {
			add(e.Begin, e.End, nil)
		}
	}
	m.functions = arranged(m.functions)
	for _, f := range m.functions {
		m.longest = max(m.longest, f.End-f.Start)
	}
	for _, at := range extents.LandingPads() {
		m.landings = append(m.landings, at+bias)
	}
}

// arranged sorts functions by address, and keeps the first of several at one.
func arranged(list []function) []function {
	radix.Sort(list, func(f *function) uint64 { return uint64(f.Start) })
	return slices.CompactFunc(list, func(a, b function) bool { return a.Start == b.Start })
}

// goFunctions lists the functions of a Go program as its runtime knows them.
func goFunctions(file *elf.File) []gosym.Func {
	text, table := file.Section(".text"), file.Section(".gopclntab")
	if text == nil {
		return nil
	}
	data, err := table.Data()
	if err != nil {
		return nil
	}
	known, err := gosym.NewTable(nil, gosym.NewLineTable(data, text.Addr))
	if err != nil {
		return nil
	}
	return known.Funcs
}

// from returns the index of the first function that begins at an address or behind it, and whether it begins at the address.
func (m *module) from(addr arch.Addr) (int, bool) {
	return slices.BinarySearchFunc(m.functions, addr, func(f function, at arch.Addr) int { return cmp.Compare(f.Start, at) })
}

// biasOf is what has to be added to the addresses in a file to have those of a mapping of it.
func biasOf(file *elf.File, mapping sys.Mapping) (arch.Addr, bool) {
	for _, segment := range file.Progs {
		offset := segment.Off &^ 0xfff
		code := segment.Type == elf.PT_LOAD && segment.Flags&elf.PF_X != 0
		if code && offset <= mapping.Offset && mapping.Offset < segment.Off+segment.Filesz {
			return arch.Addr(mapping.Start) - arch.Addr(mapping.Offset-offset) - arch.Addr(segment.Vaddr&^0xfff), true
		}
	}
	return 0, false
}

// survey has the planner know the function that an address is in, and the padding behind it and the ones around. It returns the
// function, an empty one if none is known.
func (m *module) survey(s *addrSpace, addr arch.Addr) function {
	const around = 512
	i, found := m.from(addr)
	if !found {
		i--
	}
	if i < 0 {
		return function{}
	}
	// Padding is looked for where a jump of two bytes reaches, and functions of a file are not all read for one of them.
	low, high := max(m.text.Start, addr-min(addr, around)), min(m.text.End, addr+around)
	window := make([]byte, high-low)
	if n, _ := s.read(low, window); n == len(window) {
		m.planner.Padding = jump.Padding(window, low, m.between(low, high))
	}
	f := m.functions[i]
	if addr >= f.End {
		return function{}
	}
	if _, swept := m.planner.Targets.Function(f.Start); !swept {
		code := make([]byte, f.End-f.Start)
		if n, _ := s.read(f.Start, code); n == len(code) {
			m.planner.Targets.Sweep(code, f.Start)
		}
	}
	return f
}

// between returns the functions that overlap a range, in order.
func (m *module) between(low, high arch.Addr) (ranges []jump.Range) {
	first, _ := m.from(low - min(low, m.longest)) // none before reaches as far as low
	behind, _ := m.from(high)
	for _, f := range m.functions[first:behind] {
		if low < f.End {
			ranges = append(ranges, f.Range)
		}
	}
	return ranges
}
