// Package symtab names addresses by the symbol table of an ELF file, and by its debug information: 0x4011b5 is push+95, on
// line 23 of queue.c.
//
// A Table holds the functions and objects that have an address, as the file has them; Rebase gives the view of a program that
// was loaded elsewhere. Lines are read when they are asked for. A Table may be used by several goroutines. Separate
// debug files are not looked for.
package symtab

import (
	"cmp"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"
	"strconv"

	"tracewell/arch"
	"tracewell/internal/mangle"
)

// Symbol is a function or an object.
type Symbol struct {
	Name     string
	Addr     arch.Addr
	Size     uint64 // bytes; 0 where the file does not say, as for functions written in assembly
	Function bool
}

// Table is the symbols of one program.
type Table struct {
	symbols     []Symbol // by address; one for each
	relocatable bool
	bias        arch.Addr
	lines       *lineTable
}

// Read reads the symbol table of an ELF file, or its dynamic one if it has been stripped of the other. A file without
// either is no error; its Table is empty. The file must stay readable as long as lines are asked for.
func Read(r io.ReaderAt) (*Table, error) {
	file, err := elf.NewFile(r)
	if err != nil {
		return nil, fmt.Errorf("reading an ELF file: %w", err)
	}
	symbols, err := file.Symbols()
	if errors.Is(err, elf.ErrNoSymbols) {
		symbols, err = file.DynamicSymbols()
	}
	if err != nil && !errors.Is(err, elf.ErrNoSymbols) {
		return nil, fmt.Errorf("reading the symbols of an ELF file: %w", err)
	}
	return &Table{symbols: sorted(symbols), relocatable: file.Type == elf.ET_DYN, lines: &lineTable{file: file}}, nil
}

// sorted takes the functions and objects out of a symbol table. Of those at one address it keeps the one that a reader most
// likely knows: a function before an object, a global name before a local or weak one, then the one that stands first.
func sorted(all []elf.Symbol) []Symbol {
	type ranked struct {
		Symbol
		rank int
	}
	var found []ranked
	for _, s := range all {
		kind := elf.ST_TYPE(s.Info)
		function := kind == elf.STT_FUNC || kind == elf.STT_GNU_IFUNC
		if !function && kind != elf.STT_OBJECT || s.Section == elf.SHN_UNDEF || s.Name == "" {
			continue
		}
		rank := 0
		if !function {
			rank += 2
		}
		if elf.ST_BIND(s.Info) != elf.STB_GLOBAL {
			rank++
		}
		found = append(found, ranked{Symbol{s.Name, arch.Addr(s.Value), s.Size, function}, rank})
	}
	slices.SortStableFunc(found, func(a, b ranked) int { return cmp.Or(cmp.Compare(a.Addr, b.Addr), a.rank-b.rank) })
	var symbols []Symbol
	for _, s := range found {
		if n := len(symbols); n == 0 || symbols[n-1].Addr != s.Addr {
			symbols = append(symbols, s.Symbol)
		}
	}
	return symbols
}

// Len returns how many symbols there are.
func (t *Table) Len() int { return len(t.symbols) }

// Relocatable reports whether the program can be loaded anywhere, so that its symbols hold only once Rebase was told where.
func (t *Table) Relocatable() bool { return t.relocatable }

// Rebase returns a Table for the program loaded bias bytes above where the file has it.
func (t *Table) Rebase(bias arch.Addr) *Table {
	rebased := *t
	rebased.bias = bias
	return &rebased
}

// enclosing bounds the search for a symbol around one that ended before the address.
const enclosing = 16

// At returns the symbol that addr lies in, and how far in.
func (t *Table) At(addr arch.Addr) (s Symbol, offset uint64, ok bool) {
	addr -= t.bias
	behind := sort.Search(len(t.symbols), func(i int) bool { return t.symbols[i].Addr > addr })
	for i := behind - 1; i >= 0 && i >= behind-enclosing; i-- {
		s = t.symbols[i]
		offset = uint64(addr - s.Addr)
		if offset < s.Size || offset == 0 || s.Size == 0 && s.Function && i == behind-1 {
			s.Addr += t.bias
			return s, offset, true
		}
	}
	return Symbol{}, 0, false
}

// Describe names addr as GDB does, "push+95" or "push"; empty if it lies in no symbol.
func (t *Table) Describe(addr arch.Addr) string {
	s, offset, ok := t.At(addr)
	switch {
	case !ok:
		return ""
	case offset == 0:
		return s.plain()
	}
	return s.plain() + "+" + strconv.FormatUint(offset, 10)
}

// plain is the name in the source.
func (s *Symbol) plain() string {
	if s.Function {
		return mangle.Plain(s.Name)
	}
	return mangle.Object(s.Name)
}

// Named returns the symbol of a name, and false if there is none, or more than one, as of a static function that several
// sources have.
func (t *Table) Named(name string) (found Symbol, ok bool) {
	for _, s := range t.symbols {
		if s.Name != name {
			continue
		}
		if ok {
			return Symbol{}, false
		}
		s.Addr += t.bias
		found, ok = s, true
	}
	return found, ok
}
