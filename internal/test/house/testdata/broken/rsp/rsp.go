// Package rsp does what a package of the core must not.
package rsp

import (
	_ "net"
	_ "os"
	_ "os/exec"
	_ "syscall"

	_ "golang.org/x/sys/unix"
)

// Long has too many lines.
func Long() (sum int) {
	sum += 1
	sum += 2
	sum += 3
	sum += 4
	sum += 5
	sum += 6
	sum += 7
	return sum
}

// Table has as many, most of them in a table.
func Table() int {
	table := []int{
		1,
		2,
		3,
		4,
		5,
		6,
	}
	return table[0]
}

// Excused is too long as well.
func Excused() (sum int) {
	sum += 1
	sum += 2
	sum += 3
	sum += 4
	sum += 5
	sum += 6
	sum += 7
	return sum
}
