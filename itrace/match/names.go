package match

import (
	"bytes"
	"encoding/binary"
	"strings"

	"tracewell/arch"
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

// number returns the number of a register by its name. Nearly all names have at most 8 bytes and are looked up as one load; the
// bytes behind a name in its line are there to be read, and masked.
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

// slowly looks a name up by its text, and has aliases resolved when it is seen first.
func (c *nameCache) slowly(word []byte) uint32 {
	id, ok := c.long[string(word)]
	if !ok {
		id = c.names.number(string(word))
		c.long[string(bytes.Clone(word))] = id
	}
	return id
}

// AliasSets are the names that registers have beside those of the calling convention, by families of processors.
var AliasSets = func() map[string][]Alias {
	sets := make(map[string][]Alias)
	for family, aliases := range arch.AliasSets() {
		for _, a := range aliases {
			sets[family] = append(sets[family], Alias(a))
		}
	}
	return sets
}()

// known returns the number of a word, and false if it has none.
func (n *names) known(word []byte) (uint32, bool) {
	id, ok := n.ids[n.resolve(string(bytes.ToLower(word)))]
	return id, ok
}
