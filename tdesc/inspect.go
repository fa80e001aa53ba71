package tdesc

import "slices"

// Inspected is what is in a document, beside what is wrong with it.
type Inspected struct {
	Target   *Target
	Findings []Finding // in the order in which the document is read, at most 1000

	places *places
}

// Layout lays out the registers whose types could be read.
func (i *Inspected) Layout() (*Layout, error) {
	readable := *i.Target
	readable.Features = nil
	for _, f := range i.Target.Features {
		readable.Features = append(readable.Features, f.readable())
	}
	return readable.Layout()
}

// readable is the feature without the types and registers that refer to types that are not there.
func (f *Feature) readable() *Feature {
	result := &Feature{Name: f.Name}
	known := map[string]bool{typeInt: true, typeFloat: true}
	for name := range predefined {
		known[name] = true
	}
	for _, t := range f.Types {
		if !slices.ContainsFunc(parts(t), func(name string) bool { return !known[name] }) {
			result.Types = append(result.Types, t)
			known[t.TypeID()] = true
		}
	}
	for _, r := range f.Registers {
		if known[r.Type] {
			result.Registers = append(result.Registers, r)
		}
	}
	return result
}

// parts are the names of the types that a type refers to.
func parts(t Type) []string {
	var names []string
	fields := func(fields []Field) {
		for _, f := range fields {
			names = append(names, f.Type)
		}
	}
	bits := func(fields []BitField) {
		for _, f := range fields {
			names = append(names, f.Type)
		}
	}
	switch t := t.(type) {
	case Vector:
		names = append(names, t.Elem)
	case Struct:
		fields(t.Fields)
		bits(t.Bits)
	case Union:
		fields(t.Fields)
	case Flags:
		bits(t.Bits)
	}
	return names
}

// places is where things stand in the documents.
type places struct {
	architecture, osabi Position
	compatible          map[string]Position
	features            map[*Feature]Position
	registers           map[*Register]Position
}

func newPlaces() *places {
	return &places{
		architecture: start,
		osabi:        start,
		compatible:   make(map[string]Position),
		features:     make(map[*Feature]Position),
		registers:    make(map[*Register]Position),
	}
}

// start is the place of what is missing.
var start = Position{Line: 1, Column: 1}

func placed[K comparable](m map[K]Position, key K) Position {
	if pos, ok := m[key]; ok {
		return pos
	}
	return start
}

// Architecture is where the element architecture stands, the start of the document if there is none.
func (i *Inspected) Architecture() Position { return i.places.architecture }

// OSABI is where the element osabi stands, the start of the document if there is none.
func (i *Inspected) OSABI() Position { return i.places.osabi }

// Compatible is where the element compatible of an architecture stands.
func (i *Inspected) Compatible(architecture string) Position {
	return placed(i.places.compatible, architecture)
}

// Feature is where a feature of the Target begins.
func (i *Inspected) Feature(f *Feature) Position { return placed(i.places.features, f) }

// Register is where a register of the Target stands.
func (i *Inspected) Register(r *Register) Position { return placed(i.places.registers, r) }
