package ctype

// Language is a programming language, where the writing of values and expressions differs by it.
type Language uint8

// The languages. Of any other, C's rules hold.
const (
	C Language = iota
	CPlusPlus
	Rust
	Go
)
