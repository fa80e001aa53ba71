package arch

import (
	"encoding/binary"
	"slices"
	"strconv"
	"strings"
)

var (
	little ByteOrder = binary.LittleEndian
	big    ByteOrder = binary.BigEndian
)

// words are those of a text.
func words(text string) []string { return strings.Fields(text) }

// numbered are prefix0, prefix1 and so on.
func numbered(prefix string, n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = prefix + strconv.Itoa(i)
	}
	return names
}

// registers makes registers of names.
func registers(kind RegisterKind, size int, names ...string) []Register {
	all := make([]Register, len(names))
	for i, name := range names {
		all[i] = Register{Name: name, Size: size, Kind: kind}
	}
	return all
}

// alias adds an alias to each register: prefix and number.
func alias(all []Register, prefix string) []Register {
	for i := range all {
		all[i].Aliases = append(all[i].Aliases, prefix+strconv.Itoa(i))
	}
	return all
}

// padded adds to each register whose number has one digit the same name with two, as QEMU has it: x01 for x1.
func padded(all []Register) []Register {
	for i, r := range all {
		if len(r.Name) == 2 {
			all[i].Aliases = append(all[i].Aliases, r.Name[:1]+"0"+r.Name[1:])
		}
	}
	return all
}

// called gives registers their names in a calling convention.
func called(all []Register, names []string) []Register {
	for i, name := range names {
		all[i].ABI = name
	}
	return all
}

// dwarf puts names at numbers of DWARF's, from each number on.
func dwarf(blocks map[int][]string) []string {
	var names []string
	for at, block := range blocks {
		if short := at + len(block) - len(names); short > 0 {
			names = append(names, make([]string, short)...)
		}
		copy(names[at:], block)
	}
	return names
}

// Alias is a name that an execution trace may have for a register in place of another.
type Alias struct{ Name, Same string }

// aliases lists a machine's, with the name of the calling convention as the other.
func (m *Machine) aliases() []Alias {
	var all []Alias
	for _, r := range m.Registers {
		same := r.Name
		if r.ABI != "" && r.ABI != r.Name {
			same = r.ABI
			all = append(all, Alias{r.Name, same})
		}
		for _, name := range r.Aliases {
			if name != same {
				all = append(all, Alias{name, same})
			}
		}
	}
	for _, p := range m.Parts {
		if p.Whole {
			all = append(all, Alias{p.Name, p.Of})
		}
	}
	return all
}

// AliasSets are the names that registers have in execution traces beside those of the calling convention, by families of
// machines. Where two machines of a family mean different registers by a name, the first row has it.
func AliasSets() map[string][]Alias {
	sets := make(map[string][]Alias)
	for _, m := range table {
		if m.Plausible == nil {
			continue
		}
		for _, a := range m.aliases() {
			if !slices.ContainsFunc(sets[m.Family], func(other Alias) bool { return other.Name == a.Name }) {
				sets[m.Family] = append(sets[m.Family], a)
			}
		}
	}
	return sets
}

// TraceNames maps every name that an execution trace may have for a register, or for a part of one, to the register. Where
// the trace, of which has says what names are in it, follows the newer convention, the names are those of that.
func (m *Machine) TraceNames(has func(name string) bool) map[string]string {
	of := make(map[string]string)
	all := m.Registers
	if m.Convention != nil && has(m.Convention.Mark) {
		all = m.Convention.Registers
	}
	for _, r := range all {
		if r.Name == m.PC {
			continue
		}
		for _, name := range append([]string{r.Name, r.ABI}, r.Aliases...) {
			of[name] = r.Name
		}
	}
	delete(of, "")
	for _, p := range m.Parts {
		of[p.Name] = p.Of
	}
	return of
}

// AllMnemonics are those of all machines together, each once: for execution traces, which do not say what they are of.
func AllMnemonics() Mnemonics {
	var all Mnemonics
	for _, m := range table {
		all.Moves = union(all.Moves, m.Mnemonics.Moves)
		all.Injective = union(all.Injective, m.Mnemonics.Injective)
		all.Compares = union(all.Compares, m.Mnemonics.Compares)
		all.Jumps = union(all.Jumps, m.Mnemonics.Jumps)
		all.Returns = union(all.Returns, m.Mnemonics.Returns)
		all.Waits = union(all.Waits, m.Mnemonics.Waits)
		all.Stores = union(all.Stores, m.Mnemonics.Stores)
	}
	return all
}

// AllFlags are the registers of flags of all machines, each once.
func AllFlags() []string {
	var all []string
	for _, m := range table {
		all = union(all, m.Flags)
	}
	return all
}

func union(all, more []string) []string {
	for _, word := range more {
		if !slices.Contains(all, word) {
			all = append(all, word)
		}
	}
	return all
}
