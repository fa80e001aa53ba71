// Package tdesctest holds what tdesc makes of target descriptions against what a GDB for every architecture makes of them:
// the place of each register, and each value as info registers prints it. It has no code of its own.
//
// The descriptions are those of tdesc/machine, one for each kind of machine, and those that other stubs serve: QEMU's, as far
// as their licence lets a copy of them be kept, are in testdata/stubs with a note of their origin. TestStubs reads all that a
// QEMU that is installed serves; make tdesc-live runs it.
package tdesctest
