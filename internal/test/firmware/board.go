package firmware

import (
	"debug/elf"
	"strconv"
)

// Board is a machine that the program is built for: a bare one, or Linux, where the program is a process without a library.
type Board int

// The boards. Those of more than one hart run the program on each.
const (
	CortexM3 Board = iota // LM3S6965: Thumb, code in flash, the device is a PL022
	AArch64               // QEMU's virt machine, EL1, the device is fw_cfg
	RV64                  // QEMU's virt machine, machine mode, the device is a 16550
	RV64x2                // the same with two harts
	RV32                  // the same of 32 bits, with one
	X86                   // QEMU's microvm, long mode, the device is a 16550 at I/O ports

	LinuxARM   // a process for qemu-arm, A32
	LinuxARM64 // a process for qemu-aarch64
	LinuxRV64  // a process for qemu-riscv64
	LinuxX86   // a process for Valgrind, or for any tracer

	Kernel      // not for Build: an x86-64 PC whose program is Linux, see StartKernel
	Semihosting // a Cortex-M3 whose program has its debugger write lines, see StartSemihosting
	end
)

// board is what Build and Start need to know of one.
type board struct {
	name   string
	folder string      // of testdata, with device.h, start.S and link.ld
	class  elf.Machine // of the executable
	flags  []string    // of the compiler
	tool   string      // the emulator, of the whole machine or of a process
	args   []string    // what it needs to be this machine
	harts  int
}

var boards = [end]*board{
	CortexM3: {
		name: "cortex-m3", folder: "cortexm3", class: elf.EM_ARM, harts: 1,
		flags: []string{"--target=thumbv7m-none-eabi", "-mcpu=cortex-m3", "-mfloat-abi=soft"},
		tool:  "qemu-system-arm", args: []string{"-M", "lm3s6965evb"},
	},
	AArch64: {
		name: "aarch64", folder: "aarch64", class: elf.EM_AARCH64, harts: 1,
		flags: []string{"--target=aarch64-none-elf", "-mgeneral-regs-only", "-mstrict-align"}, // without an MMU all memory is a device's
		tool:  "qemu-system-aarch64", args: []string{"-M", "virt", "-cpu", "cortex-a57", "-m", "32"},
	},
	RV64:   riscv("rv64", "64", "lp64", 1),
	RV64x2: riscv("rv64x2", "64", "lp64", 2),
	RV32:   riscv("rv32", "32", "ilp32", 1),
	X86: {
		name: "x86-64", folder: "x86_64", class: elf.EM_X86_64, harts: 1,
		flags: []string{"--target=x86_64-none-elf", "-mgeneral-regs-only", "-mno-red-zone"},
		tool:  "qemu-system-x86_64", args: []string{"-M", "microvm", "-cpu", "qemu64", "-m", "32"},
	},
	LinuxARM:   hosted("linux-arm", elf.EM_ARM, "qemu-arm-static", "--target=arm-linux-gnueabi", "-march=armv7-a", "-marm"),
	LinuxARM64: hosted("linux-arm64", elf.EM_AARCH64, "qemu-aarch64-static", "--target=aarch64-linux-gnu"),
	LinuxRV64: hosted("linux-rv64", elf.EM_RISCV, "qemu-riscv64-static",
		"--target=riscv64-linux-gnu", "-march=rv64imac", "-mabi=lp64", "-mno-relax"),
	LinuxX86: hosted("linux-x86-64", elf.EM_X86_64, "", "--target=x86_64-linux-gnu", "-gdwarf-4"), // Valgrind 3.19 gives up on clang's DWARF 5
	Semihosting: {
		name: "semihosting", folder: "semihosting", class: elf.EM_ARM, harts: 1,
		flags: []string{"--target=thumbv7m-none-eabi", "-mcpu=cortex-m3", "-mfloat-abi=soft"},
		tool:  "qemu-system-arm", args: []string{"-M", "lm3s6965evb", "-semihosting-config", "enable=on,target=gdb"},
	},
	Kernel: {
		name: "kernel", folder: "kernel", class: elf.EM_X86_64, harts: 1, // what is built is its only process
		flags: []string{"--target=x86_64-linux-gnu"},
		tool:  "qemu-system-x86_64", args: []string{"-M", "pc", "-cpu", "qemu64", "-m", "256", "-no-reboot"},
	},
}

func riscv(name, bits, abi string, harts int) *board {
	return &board{
		name: name, folder: "riscv", class: elf.EM_RISCV, harts: harts,
		flags: []string{"--target=riscv" + bits + "-none-elf", "-march=rv" + bits + "imac", "-mabi=" + abi, "-mcmodel=medany", "-mno-relax"},
		tool:  "qemu-system-riscv" + bits, args: []string{"-M", "virt", "-bios", "none", "-m", "32", "-smp", strconv.Itoa(harts)},
	}
}

func hosted(name string, class elf.Machine, tool string, flags ...string) *board {
	return &board{name: name, folder: "linux", class: class, flags: flags, tool: tool, harts: 1}
}

// Boards returns all boards that Build takes, bare machines first.
func Boards() []Board {
	var all []Board
	for b := range Kernel {
		all = append(all, b)
	}
	return all
}

// String names the board in a form that suits a subtest.
func (b Board) String() string { return boards[b].name }

// Harts is the number of harts, or processors, that call step.
func (b Board) Harts() int { return boards[b].harts }

// Bare reports whether the board is a machine without an operating system.
func (b Board) Bare() bool { return b < LinuxARM }
