package match

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strconv"
	"strings"
)

// names gives numbers to words, the same to all that are the same, in both traces.
type names struct {
	ids   map[string]uint32
	words []string
	same  map[string]string // aliases, in lower case: the name that each is taken for in the end
	fired *counter
}

func newNames(aliases []Alias, fired *counter) *names {
	n := &names{ids: make(map[string]uint32), same: make(map[string]string), fired: fired}
	n.number("") // 0 is no word
	for _, a := range aliases {
		n.join(strings.ToLower(a.Name), strings.ToLower(a.Same))
	}
	return n
}

// join makes two names one, and with them all that are the same as one of them already, be it in a circle.
func (n *names) join(name, same string) {
	from, to := n.resolve(name), n.resolve(same)
	if from == to {
		return
	}
	for other, last := range n.same {
		if last == from {
			n.same[other] = to
		}
	}
	n.same[from] = to
}

// resolve gives the name that a name in lower case is taken for.
func (n *names) resolve(name string) string {
	if same, ok := n.same[name]; ok {
		return same
	}
	return name
}

// number returns the number of a word, in whatever case and by whatever alias.
func (n *names) number(word string) uint32 {
	word = strings.ToLower(word)
	id, ok := n.ids[word]
	if ok {
		return id
	}
	same := n.resolve(word)
	if id, ok = n.ids[same]; !ok {
		id = uint32(len(n.words))
		n.ids[same] = id
		n.words = append(n.words, same)
	}
	if same != word {
		n.ids[word] = id
		n.fired.fire()
	}
	return id
}

// word returns the word of a number.
func (n *names) word(id uint32) string {
	return n.words[id]
}

// nameCache finds numbers of words that came before without asking. It belongs to one reader.
type nameCache struct {
	names *names
	short [1 << shortBits]cachedName // of up to 8 bytes
	long  map[string]uint32
}

const shortBits = 10

type cachedName struct {
	key uint64
	id  uint32
}

func newNameCache(n *names) *nameCache { return &nameCache{names: n, long: make(map[string]uint32)} }

func (c *nameCache) number(word []byte) uint32 {
	if n := len(word); n-1 < 8 && cap(word) >= 8 {
		return c.numberOf(binary.LittleEndian.Uint64(word[:8]) & (1<<(8*n) - 1))
	}
	return c.slowly(word)
}

// numberOf is number for a word of up to 8 bytes by these, the first the lowest.
func (c *nameCache) numberOf(key uint64) uint32 {
	entry := &c.short[key*0x9e3779b97f4a7c15>>(64-shortBits)]
	if entry.key != key {
		word := binary.LittleEndian.AppendUint64(nil, key)
		*entry = cachedName{key, c.slowly(bytes.TrimRight(word, "\x00"))}
	}
	return entry.id
}

func (c *nameCache) slowly(word []byte) uint32 {
	id, ok := c.long[string(word)]
	if !ok {
		id = c.names.number(string(word))
		c.long[string(bytes.Clone(word))] = id
	}
	return id
}

// AliasSets are the names that registers have in the calling conventions of an instruction set, beside their numbers.
var AliasSets = map[string][]Alias{
	"mips":  slices.Concat(numbered("r", mipsNames), numbered("$", mipsNames), prefixed("$", mipsNames)),
	"riscv": append(numbered("x", riscvNames), numbered("f", riscvFloats)...),
	"arm":   armAliases(),
}

var (
	mipsNames = strings.Fields(`zero at v0 v1 a0 a1 a2 a3 t0 t1 t2 t3 t4 t5 t6 t7
		s0 s1 s2 s3 s4 s5 s6 s7 t8 t9 k0 k1 gp sp s8 ra`)
	riscvNames = strings.Fields(`zero ra sp gp tp t0 t1 t2 s0 s1 a0 a1 a2 a3 a4 a5 a6 a7
		s2 s3 s4 s5 s6 s7 s8 s9 s10 s11 t3 t4 t5 t6`)
	riscvFloats = strings.Fields(`ft0 ft1 ft2 ft3 ft4 ft5 ft6 ft7 fs0 fs1 fa0 fa1 fa2 fa3 fa4 fa5 fa6 fa7
		fs2 fs3 fs4 fs5 fs6 fs7 fs8 fs9 fs10 fs11 ft8 ft9 ft10 ft11`)
)

// numbered makes aliases of prefix and number for the names in their order; the name of a frame pointer has two.
func numbered(prefix string, of []string) (aliases []Alias) {
	for i, name := range of {
		aliases = append(aliases, Alias{prefix + strconv.Itoa(i), name})
	}
	if slices.Contains(of, "s8") || slices.Contains(of, "s0") {
		frame := "s8"
		if prefix == "x" {
			frame = "s0"
		}
		aliases = append(aliases, Alias{"fp", frame})
	}
	return aliases
}

// prefixed makes aliases of the names with a prefix.
func prefixed(prefix string, of []string) (aliases []Alias) {
	for _, name := range of {
		aliases = append(aliases, Alias{prefix + name, name})
	}
	return aliases
}

// armAliases makes the narrow names of AArch64 the wide ones, and the numbers of AArch32 names.
func armAliases() (aliases []Alias) {
	for i := range 31 {
		aliases = append(aliases, Alias{"w" + strconv.Itoa(i), "x" + strconv.Itoa(i)})
	}
	return append(aliases, Alias{"wsp", "sp"}, Alias{"wzr", "xzr"}, Alias{"r13", "sp"}, Alias{"r14", "lr"}, Alias{"r15", "pc"},
		Alias{"lr", "x30"}, Alias{"sl", "r10"}, Alias{"fp", "r11"}, Alias{"ip", "r12"})
}

// known returns the number of a word, and false if it has none.
func (n *names) known(word []byte) (uint32, bool) {
	id, ok := n.ids[n.resolve(string(bytes.ToLower(word)))]
	return id, ok
}
