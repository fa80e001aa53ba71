package query

import (
	"fmt"
	"sort"
	"strings"

	"tracewell/arch"
	"tracewell/symbol/debuginfo"
)

// labels are the symbols of a program that is written in assembly: places without a type, of which debuggers make neither functions
// nor variables. Execution traces are often of such programs.
type labels []debuginfo.Symbol // by address

// labelsOf returns the labels of a program. Those with $ or a dot in front are marks that assemblers make for themselves.
func (t *Trace) labelsOf() labels {
	if t.labels == nil && t.Program != nil {
		t.labels = labels{}
		for _, s := range t.Program.Main().File().Symbols() {
			if s.Kind == debuginfo.SymbolLabel && !strings.HasPrefix(s.Name, "$") && !strings.HasPrefix(s.Name, ".") {
				s.Addr += t.Program.Main().Bias()
				t.labels = append(t.labels, s)
			}
		}
	}
	return t.labels
}

// named returns a label by its name, and how many bytes there are to the next.
func (l labels) named(name string) (addr, size uint64, ok bool) {
	for i := range l {
		if l[i].Name != name {
			continue
		}
		addr, size = uint64(l[i].Addr), 1
		for _, next := range l[i:] {
			if next.Addr > l[i].Addr {
				size = uint64(next.Addr - l[i].Addr)
				break
			}
		}
		return addr, size, true
	}
	return 0, 0, false
}

// describeByLabel names an address of code by the label at or in front of it, "" without one. Of several at one address a global
// one is what readers know.
func (t *Trace) describeByLabel(addr uint64) string {
	l := t.labelsOf()
	last := sort.Search(len(l), func(i int) bool { return uint64(l[i].Addr) > addr }) - 1
	if last < 0 || len(t.Program.Main().Code(arch.Addr(addr), 1)) == 0 {
		return ""
	}
	name := l[last].Name
	for i := last; i >= 0 && l[i].Addr == l[last].Addr; i-- {
		if l[i].Global {
			name = l[i].Name
		}
	}
	if offset := addr - uint64(l[last].Addr); offset > 0 {
		return fmt.Sprintf("%s+%d", name, offset)
	}
	return name
}
