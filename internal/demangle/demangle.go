// Package demangle turns the linkage names of C++ and Rust into the names that their sources have.
package demangle

import (
	"regexp"
	"strings"

	itanium "github.com/ianlancetaylor/demangle"
)

// Source returns the name in the source, without the type that a function returns, and false if no compiler has made the
// symbol of a name.
func Source(symbol string) (string, bool) {
	if !Is(symbol) {
		return "", false
	}
	if IsRust(symbol) {
		plain, err := itanium.ToString(symbol)
		return plain, err == nil
	}
	tree, err := itanium.ToAST(symbol)
	if err != nil {
		return "", false
	}
	if typed, ok := tree.(*itanium.Typed); ok {
		kind := typed.Type
		if m, ok := kind.(*itanium.MethodWithQualifiers); ok {
			kind = m.Method
		}
		if f, ok := kind.(*itanium.FunctionType); ok {
			f.Return = nil
		}
	}
	return itanium.ASTToString(tree), true
}

// Plain is Source, or else the symbol itself.
func Plain(symbol string) string {
	if name, ok := Source(symbol); ok {
		return name
	}
	return symbol
}

// numbered is what compilers of C add to the names of variables that are local to functions.
var numbered = regexp.MustCompile(`\.\d+$`)

// Object is Plain for a variable, which may be local to a function: items.1 is items.
func Object(symbol string) string { return numbered.ReplaceAllString(Plain(symbol), "") }

// Is reports whether a symbol looks like one that a compiler has made.
func Is(symbol string) bool {
	return strings.HasPrefix(symbol, "_Z") || strings.HasPrefix(symbol, "_R")
}

// hashed is how the older of Rust's two ways ends.
var hashed = regexp.MustCompile(`17h[0-9a-f]{16}E`)

// IsRust reports whether the compiler of Rust has made a symbol.
func IsRust(symbol string) bool { return strings.HasPrefix(symbol, "_R") || hashed.MatchString(symbol) }
