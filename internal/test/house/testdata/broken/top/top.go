// Package top is as it should be, but for the import of what is for tests only.
package top

import (
	_ "broken/bottom"
	_ "broken/internal/probe"
	"broken/internal/sys"
)

// names are of one processor, which only the table of machines may have.
var names = []string{"the counter is rip", "a program for x86-64", "%s0 of any machine", "$sp"}

// handled is a file too many in which a raw wait status has a name, and a line that is longer than it may be in this module.
func handled() bool { status := sys.Wait(); return status.Exited() }
