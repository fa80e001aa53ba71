// Package top is as it should be, but for the import of what is for tests only.
package top

import (
	_ "broken/bottom"
	_ "broken/internal/probe"
)

// names are of one processor, which only the table of machines may have.
var names = []string{"the counter is rip", "a program for x86-64", "%s0 of any machine", "$sp"}
