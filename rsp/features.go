package rsp

import "strings"

// Mark is the byte behind a feature's name, which says how far it is supported.
type Mark byte

// The marks of qSupported.
const (
	Supported   Mark = '+'
	Unsupported Mark = '-'
	Unsure      Mark = '?' // ask by trying
	HasValue    Mark = '=' // supported, with Value
)

// Feature is one item of a qSupported list.
type Feature struct {
	Name  string // such as "multiprocess" or "qXfer:features:read"
	Mark  Mark
	Value string // only with HasValue
}

// Features is the list that GDB sends behind "qSupported:" and that a stub replies, in order.
type Features []Feature

// ParseFeatures reads items separated by semicolons. Items without a name or a mark are left out of the list, as GDB and
// gdbserver do, and the first of them is reported as a *SyntaxError beside it; empty items are ignored.
func ParseFeatures(text string) (Features, error) {
	var list Features
	var bad error
	for s := NewScanner(text); !s.Done(); s.Accept(';') {
		start := s.Pos()
		item := s.Until(';')
		if item == "" {
			continue
		}
		f, ok := parseFeature(item)
		if ok {
			list = append(list, f)
		} else if bad == nil {
			bad = &SyntaxError{Text: text, Offset: start, Expected: "a feature name and one of + - ? ="}
		}
	}
	return list, bad
}

func parseFeature(item string) (Feature, bool) {
	if name, value, ok := strings.Cut(item, "="); ok {
		return Feature{name, HasValue, value}, name != ""
	}
	last := len(item) - 1
	f := Feature{Name: item[:last], Mark: Mark(item[last])}
	return f, f.Name != "" && (f.Mark == Supported || f.Mark == Unsupported || f.Mark == Unsure)
}

// AppendText appends the list as ParseFeatures reads it.
func (l Features) AppendText(dst []byte) []byte {
	for i, f := range l {
		if i > 0 {
			dst = append(dst, ';')
		}
		dst = append(dst, f.Name...)
		dst = append(dst, byte(f.Mark))
		dst = append(dst, f.Value...)
	}
	return dst
}

// String returns the list as ParseFeatures reads it.
func (l Features) String() string { return string(l.AppendText(nil)) }

// Lookup returns the last feature of that name, the one that counts, and whether there is one.
func (l Features) Lookup(name string) (Feature, bool) {
	for i := len(l) - 1; i >= 0; i-- {
		if l[i].Name == name {
			return l[i], true
		}
	}
	return Feature{}, false
}

// Has reports whether the feature is supported, with or without a value.
func (l Features) Has(name string) bool {
	f, _ := l.Lookup(name)
	return f.Mark == Supported || f.Mark == HasValue
}

// Value returns the value of a feature, "" if it has none.
func (l Features) Value(name string) string {
	f, _ := l.Lookup(name)
	return f.Value
}
