package generate

// entry is the address of the program's first instruction; its data are far below.
const entry = 0x80008000

// handlerEntry is where the processor goes on an interrupt.
var handlerEntry uint32

// The data of the program: an array of numbers, and their sum.
const (
	arrayAddr  = 0x1000
	arrayWords = 24
	sumAddr    = 0x0800
	stackAddr  = 0x7ff0

	interruptsAddr = 0x0400 // what the handler counts in
)

// assembled and program are made once.
var (
	assembled = assemble()
	program   = assembled.code
)

// assembler puts instructions one behind the other. Targets of branches are labels, which may come later.
type assembler struct {
	code   []instruction
	labels map[string]uint32
	fixups map[int]string
	source []string // the program as it would be in C
	lines  []int    // of it, counted from 1, by instruction
}

// says adds a line to the source; the next instructions are what it does.
func (a *assembler) says(line string) { a.source = append(a.source, line) }

func (a *assembler) label(name string) { a.labels[name] = a.here() }

func (a *assembler) here() uint32 { return entry + 4*uint32(len(a.code)) }

func (a *assembler) add(in instruction) {
	a.code = append(a.code, in)
	a.lines = append(a.lines, len(a.source))
}

func (a *assembler) rrr(op *operation, rd, rs, rt uint32) {
	a.add(instruction{op: op, rd: rd, rs: rs, rt: rt})
}

func (a *assembler) shift(op *operation, rd, rt, amount uint32) {
	a.add(instruction{op: op, rd: rd, rt: rt, imm: amount})
}

func (a *assembler) rri(op *operation, rt, rs uint32, imm int) {
	a.add(instruction{op: op, rt: rt, rs: rs, imm: uint32(uint16(imm))})
}

func (a *assembler) branch(op *operation, rs, rt uint32, label string) {
	a.fixups[len(a.code)] = label
	a.add(instruction{op: op, rs: rs, rt: rt})
}

func (a *assembler) jump(op *operation, label string) { a.branch(op, zero, zero, label) }

func (a *assembler) nop() { a.add(instruction{op: opNOP}) }

func assemble() *assembler {
	a := &assembler{labels: map[string]uint32{}, fixups: map[int]string{}}
	a.declare()
	a.start()
	a.fill()
	a.sort()
	a.total()
	a.wait()
	a.mix()
	a.handler()
	for at, label := range a.fixups {
		a.code[at].target = a.labels[label]
	}
	for i := range a.code {
		a.code[i].words = []byte(a.code[i].text())
	}
	handlerEntry = a.labels["handler"]
	return a
}

// declare says what there is in memory.
func (a *assembler) declare() {
	for _, line := range []string{
		"/* What the trace is of, as it would be in C. */",
		"unsigned interrupts[3], sum, numbers[24];",
		"unsigned char sum_low;",
		"unsigned mix(unsigned seed);",
		"",
	} {
		a.says(line)
	}
}

// start sets up the stack and the seed in a1, which differs between processors.
func (a *assembler) start() {
	a.says(`void start(unsigned processor) {`)
	a.rri(opLUI, s0, zero, 0x5bd1)
	a.rri(opORI, s0, s0, 0xe995)
	a.rri(opORI, sp, zero, stackAddr)
	a.rri(opORI, s7, zero, deviceAddr)
	a.says(`    unsigned seed = processor ^ 0x5bd1e995;`)
	a.rrr(opXOR, s1, s0, a1)
	a.label("again")
}

// fill makes the array of pseudo-random numbers, each by a call of mix.
func (a *assembler) fill() {
	a.says("  again:")
	a.says("    for (unsigned *p = numbers; p != numbers + 24; p++)")
	a.rri(opORI, s2, zero, arrayAddr)
	a.rri(opORI, s3, zero, arrayAddr+4*arrayWords)
	a.says("        *p = seed = mix(seed);")
	a.label("fill")
	a.jump(opJAL, "mix")
	a.rrr(opADDU, a0, s1, zero) // in the delay slot
	a.rrr(opADDU, s1, v0, zero)
	a.rri(opSW, v0, s2, 0)
	a.rri(opADDIU, s2, s2, 4)
	a.branch(opBNE, s2, s3, "fill")
	a.nop()
}

// sort sorts the array by insertion, so that its inner loop goes round as often as the numbers ask for.
func (a *assembler) sort() {
	a.says("    for (unsigned *p = numbers + 1; p != numbers + 24; p++) {")
	a.rri(opORI, s2, zero, arrayAddr+4)
	a.label("outer")
	a.says("        unsigned n = *p, *q = p;")
	a.rri(opLW, t0, s2, 0)
	a.rrr(opADDU, t1, s2, zero)
	a.rri(opORI, t3, zero, arrayAddr)
	a.label("inner")
	a.says("        while (q != numbers && n < q[-1]) {")
	a.branch(opBEQ, t1, t3, "place")
	a.nop()
	a.rri(opLW, t2, t1, -4)
	a.rrr(opSLTU, v0, t0, t2)
	a.branch(opBEQ, v0, zero, "place")
	a.nop()
	a.says("            *q = q[-1]; q--;")
	a.rri(opSW, t2, t1, 0)
	a.jump(opJ, "inner")
	a.rri(opADDIU, t1, t1, -4) // in the delay slot
	a.label("place")
	a.says("        }")
	a.says("        *q = n;")
	a.rri(opSW, t0, t1, 0)
	a.rri(opADDIU, s2, s2, 4)
	a.branch(opBNE, s2, s3, "outer")
	a.nop()
}

// total sums the array up, words and lowest bytes.
func (a *assembler) total() {
	a.says("    }")
	a.says("    unsigned total = 0;")
	a.rri(opORI, s2, zero, arrayAddr)
	a.rrr(opADDU, t2, zero, zero)
	a.label("total")
	a.says("    for (unsigned *p = numbers; p != numbers + 24; p++)")
	a.says("        total += *p - (*p & 0xff);")
	a.rri(opLW, t0, s2, 0)
	a.rri(opLBU, t1, s2, 3)
	a.rrr(opADDU, t2, t2, t0)
	a.rrr(opSUBU, t2, t2, t1)
	a.rri(opADDIU, s2, s2, 4)
	a.branch(opBNE, s2, s3, "total")
	a.nop()
	a.says("    sum = total;")
	a.rri(opSW, t2, zero, sumAddr)
	a.says("    sum_low = total;")
	a.rri(opSB, t2, zero, sumAddr+4)
}

// wait polls the device.
func (a *assembler) wait() {
	a.label("wait")
	a.says("    while (!*(volatile unsigned *)0xfff0) ;")
	a.rri(opLW, t0, s7, 0)
	a.branch(opBEQ, t0, zero, "wait")
	a.nop()
	a.says("    goto again;")
	a.jump(opJ, "again")
	a.nop()
}

// mix is a function of one argument, with a frame of its own.
func (a *assembler) mix() {
	a.says("}")
	a.says("")
	a.label("mix")
	a.says("unsigned mix(unsigned seed) {")
	a.rri(opADDIU, sp, sp, -8)
	a.rri(opSW, ra, sp, 4)
	a.says("    seed ^= seed << 13;")
	a.shift(opSLL, t0, a0, 13)
	a.rrr(opXOR, v0, a0, t0)
	a.says("    seed ^= seed >> 17;")
	a.shift(opSRL, t0, v0, 17)
	a.rrr(opXOR, v0, v0, t0)
	a.says("    seed ^= seed << 5;")
	a.shift(opSLL, t0, v0, 5)
	a.rrr(opXOR, v0, v0, t0)
	a.rri(opANDI, t1, v0, 0x7f)
	a.rrr(opAND, t1, t1, s0)
	a.says("    return seed;")
	a.rri(opLW, ra, sp, 4)
	a.says("}")
	a.add(instruction{op: opJR, rs: ra})
	a.rri(opADDIU, sp, sp, 8) // in the delay slot
}

// handler is entered by an interrupt. It is far from the program and has memory of its own, and goes back to where k0 points.
func (a *assembler) handler() {
	for range 64 {
		a.nop()
	}
	a.says("")
	a.label("handler")
	a.says("void handler(void) {")
	a.says("    static unsigned count;")
	a.says("    interrupts[0] = ++count;")
	a.rri(opADDIU, k1, k1, 1)
	a.rri(opSW, k1, zero, interruptsAddr)
	a.rri(opSW, t0, zero, interruptsAddr+4)
	a.rri(opLW, t0, zero, interruptsAddr+8)
	a.rri(opADDIU, t0, t0, 1)
	a.rri(opLW, t0, zero, interruptsAddr+4)
	a.says("}")
	a.add(instruction{op: opJR, rs: k0})
	a.nop()
}
