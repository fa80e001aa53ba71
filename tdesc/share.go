package tdesc

import (
	"fmt"
	"reflect"
	"strings"
)

// sharing gives registers their types as GDB 13 does. Before it makes a type that has an id, it looks for a register, of whatever
// feature, that has a type of this name already, and takes that one: the first register decides for all later ones, and for what
// they have in members and elements. Only int, uint, bool and the pointers are what they are in any case.
//
// GDB numbers first the registers that it needs of standard features, and then all others in document order. Here those of
// standard features come first.
type sharing struct {
	several map[string]bool   // names of types that mean more than one thing, perhaps
	made    map[string]*shape // of registers so far, by the name of the type
	known   map[*shape]*shape // what became of a shape, as long as nothing is made that could change it
	steps   int
}

// maxSteps bounds what sharing takes, which in a description that is made for it could grow with the square of its types.
const maxSteps = 1 << 19

// standardPrefix begins the names of the features that GDB knows.
const standardPrefix = "org.gnu.gdb."

// share replaces the shapes of registers by those that GDB gives them, and marks the registers whose own differ.
func (l *Layout) share(t *Target) error {
	s := sharing{several: severalMeanings(t), made: make(map[string]*shape), known: make(map[*shape]*shape)}
	if len(s.several) == 0 {
		return nil
	}
	for _, standard := range []bool{true, false} {
		for i := range l.Slots {
			slot := &l.Slots[i]
			if strings.HasPrefix(slot.Feature.Name, standardPrefix) != standard || slot.bySize {
				continue
			}
			own := slot.shape
			slot.shape = s.register(own, slot.Reg.Type)
			slot.Size = slot.shape.size
			slot.Shared = slot.shape != own && !reflect.DeepEqual(slot.shape, own)
			if s.steps > maxSteps || slot.Size > maxShape || slot.shape.leaves > maxShape {
				return fmt.Errorf("target description: feature %q: reg %q: its type %q is too large", slot.Feature.Name, slot.Reg.Name,
					slot.Reg.Type)
			}
		}
	}
	return nil
}

// severalMeanings are the names that more than one feature defines, or one feature and GDB.
func severalMeanings(t *Target) map[string]bool {
	several, defined := make(map[string]bool), make(map[string]*Feature)
	for _, f := range t.Features {
		for _, typ := range f.Types {
			id := typ.TypeID()
			_, given := predefined[id]
			if earlier, ok := defined[id]; given || ok && earlier != f {
				several[id] = true
			}
			defined[id] = f
		}
	}
	return several
}

func (s *sharing) register(own *shape, name string) *shape {
	given := s.adopt(own)
	if _, ok := s.made[name]; !ok {
		s.made[name] = given
		if s.several[name] {
			clear(s.known)
		}
	}
	return given
}

// adopt finds what GDB takes for a shape.
func (s *sharing) adopt(own *shape) *shape {
	if made, ok := s.made[own.name]; ok && own.name != "" {
		return made
	}
	if known, ok := s.known[own]; ok {
		return known
	}
	s.steps++
	result := own
	if own.elem != nil || own.members != nil {
		result = s.parts(own)
	}
	s.known[own] = result
	return result
}

// parts is the shape with what GDB takes for its parts; the same one where that changes nothing.
func (s *sharing) parts(own *shape) *shape {
	result := *own
	changed := false
	if own.elem != nil {
		result.elem = s.adopt(own.elem)
		result.size = result.elem.size * own.count
		changed = result.elem != own.elem
	}
	result.members = nil
	end := 0
	for _, m := range own.members {
		given := s.adopt(m.shape)
		changed = changed || given != m.shape
		m.shape = given
		if own.kind == kindStruct && !m.bits {
			m.offset = end
		}
		end = max(end, m.offset+given.size)
		result.vector = result.vector || own.kind == kindUnion && given.vector
		result.members = append(result.members, m)
	}
	if !changed || s.steps > maxSteps {
		return own
	}
	if own.kind == kindUnion || own.kind == kindStruct && !own.members[0].bits {
		result.size = end
	}
	result.leaves = result.countLeaves()
	return &result
}
