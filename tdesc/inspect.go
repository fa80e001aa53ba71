package tdesc

// Inspected is what is in a document, beside what is wrong with it.
type Inspected struct {
	Target   *Target
	Findings []Finding // in the order in which the document is read, at most 1000

	places *places
}

// places is where things stand in the documents.
type places struct {
	architecture, osabi Position
	features            map[*Feature]Position
	registers           map[*Register]Position
	types               map[typeKey]Position
}

// typeKey is a type by feature and id.
type typeKey struct {
	feature *Feature
	id      string
}

func newPlaces() *places {
	return &places{
		architecture: start,
		osabi:        start,
		features:     make(map[*Feature]Position),
		registers:    make(map[*Register]Position),
		types:        make(map[typeKey]Position),
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

// Feature is where a feature of the Target begins.
func (i *Inspected) Feature(f *Feature) Position { return placed(i.places.features, f) }

// Register is where a register of the Target stands.
func (i *Inspected) Register(r *Register) Position { return placed(i.places.registers, r) }

// Type is where a feature of the Target defines a type.
func (i *Inspected) Type(f *Feature, id string) Position {
	return placed(i.places.types, typeKey{f, id})
}
