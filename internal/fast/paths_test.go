//go:build linux && amd64

package fast

import (
	"fmt"
	"testing"

	"tracewell/arch/amd64"
)

// path is a way through a pad.
type path struct {
	name        string
	tracepoints []Tracepoint
	disabled    []int // indexes
	trap        bool  // Site.Trap
	strict      bool  // Site.Strict
	stops       bool  // the hit ends in Trapped
	regs        func(*amd64.UserRegs)
	variables   map[uint16]int64
	hits        uint64 // that the first tracepoint has had
	all         bool   // of the registers are collected
	noRedZone   bool
	sleeps      bool // a thread that waits for room may
	whenFull    WhenFull
	full        bool // the ring is full until the thread is taken out, or has been waiting for a while
	inert       bool // the pads are off
	abandons    bool // the same, and patience is short: the thread goes on, and the run is over
	nothing     bool // no record is made, whatever the oracle says
	// entered are the values that the table of repeats has entries for, in their order; the hit is counted in the entry of that number,
	// from 1 on, or in none. otherTag has them be another pad's.
	entered  func(*amd64.UserRegs, *victim) [][]uint64
	counted  int
	otherTag bool
}

// microseconds is what the clock says: it stands still.
const microseconds = 1700000000_000000

// builtins are the values of the built-in variables, which the oracle takes for those of others.
func builtins(v *victim) map[uint16]int64 {
	return map[uint16]int64{1: microseconds, 20: int64(v.pid), 21: 77, 22: microseconds * 1000, 7: 0}
}

// paths are all ways through pads of all kinds.
func paths(t testing.TB, v *victim) []path {
	tp := func(number int, condition string, actions ...string) Tracepoint {
		return tracepoint(t, number, condition, actions...)
	}
	rsi := func(v uint64) func(*amd64.UserRegs) { return func(r *amd64.UserRegs) { r[amd64.RSI] = v } }
	counted := func(t Tracepoint) Tracepoint { t.Pass = 2; return t }
	one := func(t Tracepoint) []Tracepoint { return []Tracepoint{t} }
	const increments = "getv 7\nconst8 1\nadd\nsetv 7\nconst8 1\nbit_and\nend"
	all := []path{
		{name: "registers and memory", tracepoints: one(tp(1, "", "R", "M 4 0 16"))},
		{name: "no red zone", tracepoints: one(tp(1, "", "R", "M 4 0 16")), noRedZone: true},
		{name: "all registers", tracepoints: one(tp(1, "", "M 2 0 8", "R", "M 3 0 8")), all: true},
		{name: "empty frame", tracepoints: one(tp(1, ""))},
		{name: "inert", tracepoints: one(tp(1, "", "R")), inert: true, nothing: true},
		{name: "disabled", tracepoints: one(tp(1, "", "R")), disabled: []int{1}, nothing: true},
		{name: "condition true", tracepoints: one(tp(1, "reg 4\nref8\nconst8 0\nequal\nlog_not\nend", "R"))},
		{name: "condition false", tracepoints: one(tp(1, "reg 5\nconst8 77\nequal\nend", "R"))},
		{name: "condition false by memory", tracepoints: one(tp(1, "reg 4\nref64\nconst8 77\nequal\nend", "R"))},
		{name: "condition null", tracepoints: one(tp(1, "reg 4\nconst8 8\nadd\nref64\nconst8 77\nequal\nend", "R")), regs: rsi(0)},
		{name: "condition faults", tracepoints: one(tp(1, "reg 4\nref64\nconst8 77\nequal\nend", "R")), regs: rsi(nowhere - 3)},
		{name: "condition divides", tracepoints: one(tp(1, "reg 4\nreg 5\ndiv_signed\nend", "R"))},
		{name: "condition divides by zero", tracepoints: one(tp(1, "reg 4\nconst8 0\ndiv_signed\nend", "R"))},
		{name: "pad registers as bases", tracepoints: one(tp(1, "", "M 0 0 8", "M 8 1 8", "M 9 2 8", "M 3 3 5", "M 7 -8 32")),
			regs: func(r *amd64.UserRegs) {
				r[amd64.RAX], r[amd64.R8], r[amd64.R9], r[amd64.RDX] = dataRegion, dataRegion+64, dataRegion+128, dataRegion+256
			}},
		{name: "sizes", tracepoints: one(tp(1, "", "M 4 0 1", "M 4 0 2", "M 4 0 3", "M 4 0 7", "M 4 0 13", "M 4 0 128", "M 4 0 129",
			"M 4 0 700", "R"))},
		{name: "direction flag", tracepoints: one(tp(1, "", "M 4 0 200")),
			regs: func(r *amd64.UserRegs) { r[amd64.EFlags] |= flagDirection }},
		{name: "absolute", tracepoints: one(tp(1, "", fmt.Sprintf("M -1 %d 16", dataRegion+8), "R"))},
		{name: "block of nothing", tracepoints: one(tp(1, "", "M 4 0 16", "R", "M 4 0 16")), regs: rsi(8)},
		{name: "block not canonical", tracepoints: one(tp(1, "", "M 4 0 16", "R")), regs: rsi(0xdead_0000_0000_0000)},
		{name: "block faults", tracepoints: one(tp(1, "", "M 4 0 16", "R", "M 4 0 160")), regs: rsi(nowhere)},
		{name: "block faults in part", tracepoints: one(tp(1, "", "M 4 0 16", "R", "M 4 0 160")), regs: rsi(nowhere - 9)},
		{name: "expression", tracepoints: one(tp(1, "", "R", "reg 4\nconst8 8\nadd\ntrace_quick 8\nref64\npop\nend",
			"reg 4\nconst16 512\nadd\nref64\nconst8 8\ntrace\nend"))},
		{name: "expression at a constant", tracepoints: one(tp(1, "",
			fmt.Sprintf("const32 %d\ntrace_quick 8\nref32\npop\nend", dataRegion)))},
		{name: "stack and pc", tracepoints: one(tp(1, "reg 7\nref64\nreg 16\nless_unsigned\nlog_not", "M 7 0 32",
			"reg 7\nconst8 16\nadd\ntrace_quick 8\nref64\nreg 7\ntrace_quick 200\nreg 7\nconst8 50\ntracenz\npop\npop",
			"reg 7\nreg 16\nreg 16\nsub\nadd\nconst8 9\ntrace"))},
		{name: "expression null", tracepoints: one(tp(1, "",
			"reg 4\ntrace_quick 8\nref64\ntrace_quick 4\nref32\ntrace_quick 2\npop\nend", "R")), regs: rsi(dataRegion + 0x208)},
		{name: "expression faults",
			tracepoints: one(tp(1, "", "reg 4\ntrace_quick 8\nref64\ntrace_quick 4\nref64\ntrace_quick 2\npop\nend",
				"R")), regs: rsi(dataRegion + 0x210)},
		{name: "expression divides by zero", tracepoints: one(tp(1, "",
			"reg 4\ntrace_quick 8\nconst8 0\nrem_signed\ntrace_quick 2\nend", "R"))},
		{name: "branches", tracepoints: one(tp(1, "", "reg 5\nif_goto there\nreg 4\ntrace_quick 8\npop\ngoto done\n"+
			"there: reg 4\ntrace_quick 4\npop\ndone: tracev 9\nend", "R"))},
		{name: "string", tracepoints: one(tp(1, "", "reg 4\nconst8 100\ntracenz\nend", "R")), regs: rsi(dataRegion + 0x100)},
		{name: "string at its limit", tracepoints: one(tp(1, "", "reg 4\nconst8 5\ntracenz\nend", "R")), regs: rsi(dataRegion + 0x100)},
		{name: "string faults", tracepoints: one(tp(1, "", "reg 4\nconst8 100\ntracenz\nend", "R")), regs: rsi(nowhere - 6)},
		{name: "string of nothing", tracepoints: one(tp(1, "", "reg 4\nconst8 100\ntracenz\nend", "R")), regs: rsi(0)},
		{name: "computed size", tracepoints: one(tp(1, "", "reg 4\nreg 4\nconst16 520\nadd\nref32\nconst8 10\nadd\ntrace\nend", "R"))},
		{name: "computed size 0", tracepoints: one(tp(1, "", "reg 4\nreg 4\nconst16 520\nadd\nref32\nconst8 20\nsub\ntrace\nend", "R"))},
		{name: "computed size too large", tracepoints: one(tp(1, "",
			"reg 4\nreg 4\nconst16 520\nadd\nref32\nconst32 70000\nadd\ntrace\nend", "R")), stops: true},
		{name: "variables", tracepoints: one(tp(1, "getv 7\nconst8 5\nless_signed\nend", "tracev 7", "R")),
			variables: map[uint16]int64{7: 3}},
		{name: "locked true", tracepoints: one(tp(1, increments, "tracev 7", "R")), variables: map[uint16]int64{7: 2}},
		{name: "locked false", tracepoints: one(tp(1, increments, "tracev 7", "R")), variables: map[uint16]int64{7: 3}},
		{name: "locked action faults", tracepoints: one(tp(1, "", "getv 7\nconst8 1\nadd\nsetv 7\nreg 4\nref64\nend", "tracev 7")),
			regs: rsi(nowhere), variables: map[uint16]int64{7: 3}},
		{name: "flags", tracepoints: one(tp(1, "reg 17\nconst16 0x8d5\nbit_and\nconst8 1\nadd\nend", "reg 17\nreg 4\nadd\nreg 17\nsub\n"+
			"trace_quick 8\npop\nend"))},
		{name: "several", tracepoints: []Tracepoint{tp(1, "", "R", "M 4 0 16"), tp(2, "reg 5\nconst8 77\nequal\nend", "R"),
			tp(3, "", "reg 4\ntrace_quick 8\npop\nend")}},
		{name: "several, the first false", tracepoints: []Tracepoint{tp(1, "reg 5\nconst8 77\nequal\nend", "R", "M 4 0 16"),
			tp(2, "reg 4\nref64\nend", "R", "tracev 5")}},
		{name: "several, all false", tracepoints: []Tracepoint{tp(1, "reg 5\nconst8 77\nequal\nend", "R", "M 4 0 16"),
			tp(2, "const8 0\nend", "R")}},
		{name: "several, one disabled", tracepoints: []Tracepoint{tp(1, "", "R"), tp(2, "", "R"), tp(3, "", "M 4 0 8")},
			disabled: []int{2}},
		{name: "several, conditions fail", tracepoints: []Tracepoint{tp(1, "reg 4\nref64\nend", "R"), tp(2, "", "R"),
			tp(3, "reg 4\nconst8 0\nrem_unsigned\nend", "R"), tp(4, "reg 4\nref8\nend", "R")}, regs: rsi(nowhere)},
		{name: "several, variables in order", tracepoints: []Tracepoint{tp(1, "", "getv 7\nconst8 1\nadd\nsetv 7\npop\nend"),
			tp(2, "getv 7\nconst8 4\nequal\nend", "tracev 7", "R")}, variables: map[uint16]int64{7: 3}},
		{name: "pass count", tracepoints: one(counted(tp(1, "", "R", "M 4 0 16"))), hits: 1},
		{name: "pass count reached", tracepoints: one(counted(tp(1, increments, "R", "M 4 0 16"))), hits: 2, nothing: true},
		{name: "several, pass counts", tracepoints: []Tracepoint{counted(tp(1, "", "R")), tp(2, "", "M 4 0 16"),
			counted(tp(3, "reg 5\nconst8 77\nequal\nend", "R"))}, hits: 1},
		{name: "built-in variables", tracepoints: one(tp(1, "getv 20\nconst8 0\nequal\nlog_not\ngetv 21\nconst8 77\nequal\nbit_and",
			"tracev 1", "tracev 20", "tracev 22", "getv 1\ngetv 22\nadd\ngetv 21\nadd\nsetv 7\ntracev 7", "tracev 21", "R")), variables: builtins(v)},
		{name: "built-in variable in a register", tracepoints: one(tp(1, "reg 2\nreg 3\nreg 0\ngetv 1\nadd\nadd\nadd\ngetv 20\nadd",
			"tracev 20")), variables: builtins(v)},
		{name: "trap", trap: true, stops: true, tracepoints: one(tp(1, "reg 4\nref8\nend", "R"))},
		{name: "trap not taken", trap: true, nothing: true, tracepoints: one(tp(1, "reg 5\nconst8 77\nequal\nend", "R"))},
		{name: "trap, condition fails", trap: true, stops: true, tracepoints: one(tp(1, "reg 4\nref8\nend", "R")), regs: rsi(nowhere)},
		{name: "trap, several", trap: true, stops: true, tracepoints: []Tracepoint{tp(1, "reg 8\nconst8 77\nequal\nend"),
			tp(2, "reg 9\nreg 8\nsub\nconst8 3\ndiv_signed\nconst8 99\nequal\nend"), tp(3, "reg 4\nref8\nend"), tp(4, "const8 0\nend")}},
		{name: "trap, several, none taken", trap: true, nothing: true, tracepoints: []Tracepoint{tp(1, "reg 8\nconst8 77\nequal\nend"),
			tp(2, "reg 9\nreg 8\nsub\nconst8 3\ndiv_signed\nconst8 99\nequal\nend"), tp(3, "reg 4\nref8\nconst16 999\nequal\nend")}},
		{name: "trap, several, a later one fails", trap: true, stops: true, tracepoints: []Tracepoint{
			tp(1, "reg 8\nconst8 77\nequal\nend"), tp(2, "reg 4\nref64\nend"), tp(3, "const8 1\nend")}, regs: rsi(0)},
	}
	all = append(append(all, printing(t)...), repeats(t)...)
	for _, p := range []path{all[0], all[5], all[9]} {
		p.full = true
		for _, sleeps := range []bool{false, true} {
			p.sleeps = sleeps
			full := p
			full.name += fmt.Sprintf(", full, sleeps %v", sleeps)
			all = append(all, full)
			abandoned := full
			abandoned.abandons, abandoned.nothing = true, true
			abandoned.name += ", abandoned"
			all = append(all, abandoned)
		}
		p.sleeps = false
		p.whenFull = Drop
		dropped := p
		dropped.nothing = true
		dropped.name += ", dropped"
		all = append(all, dropped)
		p.full = false
		p.name += ", may drop"
		all = append(all, p)
	}
	return all
}

// printing are ways through pads that print.
func printing(t testing.TB) []path {
	tp := func(number int, condition string, actions ...string) Tracepoint {
		return tracepoint(t, number, condition, actions...)
	}
	rsi := func(v uint64) func(*amd64.UserRegs) { return func(r *amd64.UserRegs) { r[amd64.RSI] = v } }
	one := func(condition string, actions ...string) []Tracepoint {
		return []Tracepoint{tp(1, condition, actions...)}
	}
	const (
		text    = dataRegion + 0x100
		numbers = "reg 7\nreg 0\nreg 4\nref32\nreg 5\nconst8 0\nconst8 0\nprintf 4 `%d, %u of %lx at %p\\n`"
		name    = "reg 5\nreg 4\nconst8 0\nconst8 0\nprintf 2 `<%s> %d`"
		divides = "reg 4\nconst8 0\ndiv_signed"
	)
	return []path{
		{name: "printf", tracepoints: one("", numbers)},
		{name: "printf among others", tracepoints: one("", "R", "const8 0\nconst8 0\nprintf 0 `none`", "M 4 0 16", numbers, "M 4 0 1")},
		{name: "printf without a frame's block", tracepoints: one("reg 4", "const8 0\nconst8 0\nprintf 0 `none`")},
		{name: "printf string", tracepoints: one("", name, "R"), regs: rsi(text)},
		{name: "printf string at 0", tracepoints: one("", name), regs: rsi(0)},
		{name: "printf strings", tracepoints: one("", "reg 4\nreg 4\nconst8 0\nreg 4\nconst8 0\nconst8 0\nprintf 4 `%s%5s%.3s|%.0s`"),
			regs: rsi(text + 2)},
		{name: "printf string without an end, cut", tracepoints: one("", "reg 4\nconst8 0\nconst8 0\nprintf 1 `%.4s`"), regs: rsi(nowhere - 4)},
		{name: "printf string without an end", tracepoints: one("", name), regs: rsi(nowhere - 4), stops: true},
		{name: "printf string nowhere", tracepoints: one("", name, "R"), regs: rsi(8), stops: true},
		{name: "printf long string", tracepoints: one("", name, "R"), regs: rsi(dataRegion + 0x220), stops: true},
		{name: "printf of one of several", tracepoints: []Tracepoint{tp(1, "reg 4\nconst8 0\nequal", "R"), tp(2, "", name),
			tp(3, "", numbers, "R")}, regs: rsi(text)},
		{name: "printf of several, the last too long", tracepoints: []Tracepoint{tp(1, "", "R"), tp(2, "", numbers), tp(3, "", name)},
			regs: rsi(dataRegion + 0x220), stops: true},
		{name: "printf in a branch", tracepoints: one("", "reg 5\nif_goto there\n"+name+"\ngoto done\nthere: "+numbers+"\ndone: tracev 9")},
		{name: "printf behind a failure", tracepoints: one("", divides+"\n"+name, numbers), regs: rsi(text)},
		{name: "strict printf", strict: true, tracepoints: one("reg 5", numbers, name), regs: rsi(text)},
		{name: "strict, false", strict: true, nothing: true, tracepoints: one("reg 5\nconst8 1\nequal", numbers)},
		{name: "strict, condition fails", strict: true, stops: true, tracepoints: one("reg 4\nref8", numbers), regs: rsi(nowhere)},
		{name: "strict, condition null", strict: true, stops: true, tracepoints: one("reg 4\nref8", numbers), regs: rsi(0)},
		{name: "strict, action divides by zero", strict: true, stops: true, tracepoints: one("", name, divides), regs: rsi(text)},
		{name: "strict, action null", strict: true, stops: true, tracepoints: one("", "reg 4\nref8\npop"), regs: rsi(0)},
		{name: "strict, action faults", strict: true, stops: true, tracepoints: one("", "const8 0\nconst8 0\nprintf 0 `none`", numbers),
			regs: rsi(nowhere)},
	}
}
