//go:build linux

package sys

// numGeneral is how many general registers there are: those of user_pt_regs, x0 to x30, sp, pc and pstate.
const numGeneral = 34
