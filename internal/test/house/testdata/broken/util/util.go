// Package util has a name that says nothing.
package util

type Thing struct {
	Name     string
	TestData []byte
}

// SessionManager is one word too long.
type SessionManager interface{ Manage() }

func (*Thing) Manage() {}

func (*Thing) Refresh() {}

func (Thing) String() string { return "" }

// hidden has a method that nobody outside can name.
type hidden struct{}

func (hidden) Exported() {}

// The group's comment is enough.
const (
	First = iota
	Second
)

var Metadata, ProcInfo int

var (
	Here  int // a comment at the end of the line
	There int
)

func Exported() {}
