// Package emulatetest holds the emulators of single instructions (arch/emulate) to processors: QEMU executes the same random instruction
// on the same random registers, and objdump says where it ends. It has tests only.
package emulatetest
