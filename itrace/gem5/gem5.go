// Package gem5 is the traces of gem5's debug flag Exec and those it stands for (ExecAll and others), of any processor:
//
//	line = [ TICK ": " ] [ FLAG ": " ] NAME ": " [ "A" N " " ] "T" N " : 0x" PC [ " @" SYMBOL [ "+" N ] ] ( "." UPC | "   " ) " : "
//	       text [ " : " CLASS " : " [ " Predicated False" ] [ " D=" VALUE ] [ " A=0x" ADDR ]
//	       [ "  FetchSeq=" N ] [ "  CPSeq=" N ] [ "  flags=(" words ")" ] ]
//
//	0: system.cpu: A0 T0 : 0x10000 @_start    : mov r0, r1 : IntAlu :  D=0x0000000000000000
//
// NAME is the object that executes, A its address space, T its thread. The processor is the last number in the name, 0 if there is
// none, or the next that is free if another name or thread has that. A line with UPC is a micro-operation; those of the same pc,
// with rising numbers, are one instruction, as is a line without a class in front of them, which is the whole instruction in
// words. Where microcode goes back, as in string instructions, another instruction begins. FetchSeq is the number of an
// instruction.
//
// ADDR is the address of an access, which is a write if the class says so (MemWrite, or a Store of vectors). Neither its size nor
// its data are told, and whether accesses are is known from the first on. VALUE is one result, of which register is not told: with
// the option results=operand it is taken for that of the first operand of the text, if that is a register, of lines that are no
// micro-operations and do not write memory. Opcodes, modes and other registers are not told. Older versions print the symbol in
// place of the pc, which cannot be read.
//
// Lines of info and warn, and those of other debug flags, are remarks. No line of these tests but that above is from a producer:
// they are made by the grammar of gem5's source.
package gem5

import (
	"bytes"
	"encoding/binary"
	"math"

	"tracewell/arch"
	"tracewell/itrace"
	"tracewell/itrace/internal/riscv"
	"tracewell/itrace/internal/scan"
)

// Dialect is the dialect of gem5's Exec.
var Dialect = &itrace.Dialect{
	Name:           "gem5",
	Title:          "gem5's Exec trace",
	EffectsTellCPU: true,
	Options: []itrace.Option{{Name: "results", Help: "What results are taken for: the value of the first operand, or nothing.",
		Values: []string{"operand", "none"}}},
	New: func(s itrace.Settings) itrace.Decoder {
		return itrace.EachLine(&reader{results: s["results"] == "operand"})
	},
	BehindTime: func(text []byte) int { return itrace.DecimalEnd(text, ':') },
	Why:        why,
}

func why(head []byte) string {
	if bytes.Contains(head, []byte("FetchSeq=")) {
		return "names of processors with threads, pcs and sequence numbers, as by gem5's ExecAll"
	}
	return "names of processors with threads and pcs, as by gem5's Exec"
}

// reader reads lines.
type reader struct {
	results  bool // the option
	accesses bool // there were some
	cpus     []cpu
}

// cpu is what executes.
type cpu struct {
	name   string
	thread uint64
	number int32
	pc     uint64 // of the latest instruction
	// next is the lowest number of a micro-operation that belongs to it, 0 for a line that has none.
	next uint64
	open bool // there may be more of it
}

// AppendState implements itrace.LineReader.
func (r *reader) AppendState(dst []byte) []byte {
	if !r.accesses && len(r.cpus) == 0 {
		return dst
	}
	dst = append(dst, bit(r.accesses))
	for i := range r.cpus {
		c := &r.cpus[i]
		dst = append(dst, bit(c.open))
		for _, n := range [...]uint64{uint64(c.number), c.thread, c.pc, c.next, uint64(len(c.name))} {
			dst = binary.AppendUvarint(dst, n)
		}
		dst = append(dst, c.name...)
	}
	return dst
}

// bit is 1 if something is so.
func bit(is bool) byte {
	if is {
		return 1
	}
	return 0
}

// Restore implements itrace.LineReader.
func (r *reader) Restore(state []byte) error {
	r.accesses, r.cpus = false, nil
	if len(state) == 0 {
		return nil
	}
	r.accesses = state[0] == 1
	for rest := state[1:]; len(rest) > 0; {
		c := cpu{open: rest[0] == 1}
		rest = rest[1:]
		var numbers [5]uint64
		for i := range numbers {
			n, size := binary.Uvarint(rest)
			if size <= 0 {
				return itrace.ErrState
			}
			numbers[i], rest = n, rest[size:]
		}
		length := numbers[4]
		if numbers[0] > math.MaxInt32 || length > uint64(len(rest)) {
			return itrace.ErrState
		}
		c.number, c.thread, c.pc, c.next = int32(numbers[0]), numbers[1], numbers[2], numbers[3]
		c.name, rest = string(rest[:length]), rest[length:]
		r.cpus = append(r.cpus, c)
	}
	return nil
}

// processor returns what has a name and thread.
func (r *reader) processor(name []byte, thread uint64) *cpu {
	for i := range r.cpus {
		if r.cpus[i].name == string(name) && r.cpus[i].thread == thread {
			return &r.cpus[i]
		}
	}
	number := lastNumber(name)
	for i := range r.cpus {
		if r.cpus[i].number == number {
			number = r.free()
			break
		}
	}
	r.cpus = append(r.cpus, cpu{name: string(name), thread: thread, number: number})
	return &r.cpus[len(r.cpus)-1]
}

// free is a number that no processor has.
func (r *reader) free() (number int32) {
	for i := range r.cpus {
		number = max(number, r.cpus[i].number+1)
	}
	return number
}

// lastNumber is that in a name, 0 if there is none that can be the number of a processor.
func lastNumber(name []byte) int32 {
	const most = 1 << 16
	end := len(name)
	for end > 0 && name[end-1]-'0' > 9 {
		end--
	}
	start := end
	for start > 0 && name[start-1]-'0' <= 9 {
		start--
	}
	n, ok := itrace.ParseDecimal(name[start:end])
	if !ok || n > most {
		return 0
	}
	return int32(n)
}

// separator stands between the parts of a line.
var separator = []byte(" : ")

// Line implements itrace.LineReader.
func (r *reader) Line(b *itrace.Batch, line []byte) *itrace.SyntaxError {
	var l parsed
	at, expected := l.begin(line)
	if l.remark {
		b.Add(itrace.Remark)
		return nil
	}
	if expected == "" {
		at, expected = l.address(line, at)
	}
	if expected == "" {
		at, expected = l.rest(line, at)
	}
	if expected != "" {
		return itrace.Mismatch(line, at, expected)
	}
	c := r.processor(l.name, l.thread)
	r.accesses = r.accesses || l.access
	added := b.Len()
	if !l.micro || !c.open || c.pc != l.pc || l.upc < c.next {
		r.instruction(b, &l, c)
	}
	c.pc, c.open, c.next = l.pc, l.micro || len(l.class) == 0, 0
	if l.micro {
		c.next = l.upc + 1
	}
	r.effects(b, &l, c.number)
	if b.Len() == added {
		b.Add(itrace.Remark)
	}
	return nil
}

// instruction adds an instruction.
func (r *reader) instruction(b *itrace.Batch, l *parsed, c *cpu) {
	i := b.Add(itrace.Instruction)
	i.Time, i.CPU, i.Addr, i.AddrDigits, i.ID = l.time, c.number, l.pc, l.pcs, l.sequence
	i.Disasm, i.Skipped = l.text, l.skipped
	i.Scope = itrace.NoOpcode | itrace.NoMode | itrace.NoSystem | itrace.NoLoaded | itrace.NoStored
	if !r.results {
		i.Scope |= itrace.NoRegisters
	}
	if !r.accesses {
		i.Scope |= itrace.NoLoads | itrace.NoStores
	}
}

// effects adds the access of a line, and the result.
func (r *reader) effects(b *itrace.Batch, l *parsed, number int32) {
	write := bytes.Contains(l.class, []byte("Write")) || bytes.Contains(l.class, []byte("Store"))
	if r.results && !l.micro && !write && len(l.result) > 0 {
		if name := operand(l.text); len(name) > 0 {
			x := b.Add(itrace.Register)
			x.Time, x.CPU, x.Name, x.Digits = l.time, number, name, l.result
			x.Value, x.Wild, _ = itrace.ParseDigits(l.result)
			x.Zero = string(name) == riscv.Zero
		}
	}
	if l.access {
		m := b.Add(itrace.Memory)
		m.Time, m.CPU, m.Write, m.Addr, m.AddrDigits = l.time, number, write, l.addr, l.addrs
	}
}

// registers are the names that registers have on any processor which programs compute in.
var registers = func() map[string]bool {
	all := make(map[string]bool)
	for _, m := range arch.Machines() {
		for _, r := range m.Registers {
			if r.Kind == arch.Status {
				continue
			}
			for _, name := range append([]string{r.Name, r.ABI}, r.Aliases...) {
				all[name] = len(name) > 0
			}
		}
	}
	return all
}()

// operand is the first operand of an instruction in words, empty if that is no register.
func operand(text []byte) []byte {
	at := itrace.WordEnd(text, 0)
	rest := bytes.TrimLeft(text[at:], " ")
	if end := bytes.IndexByte(rest, ','); end >= 0 {
		rest = rest[:end]
	}
	rest = bytes.TrimRight(rest, " ")
	if !registers[string(rest)] {
		return nil
	}
	return rest
}

// parsed is what a line tells.
type parsed struct {
	remark   bool
	time     uint64
	name     []byte // of what executes
	thread   uint64
	pc       uint64
	pcs      []byte
	micro    bool
	upc      uint64
	text     []byte
	class    []byte
	skipped  bool
	result   []byte // digits
	access   bool
	addr     uint64
	addrs    []byte
	sequence uint64
}

// messages are the beginnings of lines that are of no processor.
var messages = [...][]byte{[]byte("info: "), []byte("warn: "), []byte("hack: "), []byte("**** REAL SIMULATION ****")}

// begin reads a line up to its pc, and returns where that begins, or what was expected.
func (l *parsed) begin(line []byte) (at int, expected string) {
	const head = "a tick, the name of a processor and a thread, with colons behind"
	for _, m := range messages {
		if bytes.HasPrefix(line, m) {
			l.remark = true
			return 0, ""
		}
	}
	for at < len(line) && line[at] == ' ' {
		at++
	}
	start, timed := at, false
	end := decimals(line, at)
	if n, ok := itrace.ParseDecimal(line[at:end]); ok && bytes.HasPrefix(line[end:], []byte(": ")) {
		l.time, timed = n, true
		at = end + len(": ")
	}
	for range 2 { // a flag, the name
		name := at
		for at < len(line) && line[at] > ' ' && line[at] != ':' {
			at++
		}
		if at == name || !bytes.HasPrefix(line[at:], []byte(": ")) {
			break
		}
		at += len(": ")
		if end := thread(line, at); end > 0 {
			l.remark, l.name = false, line[name:at-len(": ")]
			l.thread, _ = itrace.ParseDecimal(line[bytes.LastIndexByte(line[:end], 'T')+1 : end-len(separator)])
			return end, ""
		}
		l.remark = timed // of another flag
	}
	return start, head
}

// decimals returns where decimal digits end.
func decimals(line []byte, at int) int {
	for at < len(line) && line[at]-'0' <= 9 {
		at++
	}
	return at
}

// thread returns where the address space and thread at a place end, with the separator behind them; 0 if there are none.
func thread(line []byte, at int) (end int) {
	if at < len(line) && line[at] == 'A' {
		end = decimals(line, at+1)
		if end == at+1 || end == len(line) || line[end] != ' ' {
			return 0
		}
		at = end + 1
	}
	if at == len(line) || line[at] != 'T' {
		return 0
	}
	if end = decimals(line, at+1); end == at+1 || !bytes.HasPrefix(line[end:], separator) {
		return 0
	}
	return end + len(separator)
}

// hex reads hexadecimal digits of 64 bits at most behind 0x, and returns where they end, at if there are none.
func hex(line []byte, at int) (value uint64, digits []byte, end int) {
	if !bytes.HasPrefix(line[at:], []byte("0x")) {
		return 0, nil, at
	}
	start := at + len("0x")
	end = scan.HexEnd(line, start)
	digits = line[start:end]
	if len(digits) == 0 || len(digits) > 16 {
		if _, ok := itrace.ParseHex(digits); !ok {
			return 0, nil, at
		}
	}
	return scan.Value(digits), digits, end
}

// address reads the pc with what is behind it, and the separator.
func (l *parsed) address(line []byte, at int) (next int, expected string) {
	var end int
	if l.pc, l.pcs, end = hex(line, at); end == at {
		return at, "0x and the address of an instruction"
	}
	colon := bytes.Index(line[end:], separator)
	switch {
	case colon >= 0:
	case bytes.HasSuffix(line, []byte(" :")): // there is no text
		colon = len(line) - end - len(" :")
	default:
		return end, "a colon behind the address and symbol"
	}
	at = end + colon
	// The number of a micro-operation has two columns at the least. What is not in front of the colon belongs to the symbol.
	digits := at
	for digits > end && line[digits-1]-'0' <= 9 {
		digits--
	}
	dot := digits
	if at-digits == 1 && dot > end && line[dot-1] == ' ' {
		dot--
	}
	if at > digits && at-dot >= 2 && dot > end && line[dot-1] == '.' {
		l.upc, l.micro = itrace.ParseDecimal(line[digits:at])
	}
	return min(at+len(separator), len(line)), ""
}

// rest reads text and class, and what is behind them.
func (l *parsed) rest(line []byte, at int) (bad int, expected string) {
	end := len(line)
	for {
		colon := bytes.LastIndex(line[at:end], []byte(" :"))
		if colon < 0 {
			l.text = bytes.Trim(line[at:], " \t")
			return 0, ""
		}
		colon += at
		begin := bytes.LastIndex(line[at:colon], separator)
		behind := colon + len(" :")
		if begin >= 0 && (behind == len(line) || line[behind] == ' ') && isClass(line[at+begin+len(separator):colon]) {
			l.text = bytes.Trim(line[at:at+begin], " \t")
			l.class = line[at+begin+len(separator) : colon]
			return l.results(line, behind)
		}
		end = colon
	}
}

// isClass reports whether a text can be the class of an operation: letters, digits and underscores.
func isClass(text []byte) bool {
	for _, c := range text {
		if c != '_' && c-'0' > 9 && c|0x20-'a' > 25 {
			return false
		}
	}
	return len(text) > 0 && text[0]-'0' > 9
}

// results reads what is behind the class.
func (l *parsed) results(line []byte, at int) (bad int, expected string) {
	for {
		for at < len(line) && line[at] == ' ' {
			at++
		}
		if at == len(line) {
			return 0, ""
		}
		word := line[at:itrace.WordEnd(line, at)]
		switch {
		case string(word) == "Predicated":
			if !bytes.HasPrefix(line[at:], []byte("Predicated False")) {
				return at, "Predicated False"
			}
			l.skipped = true
			at += len("Predicated False")
			continue
		case bytes.HasPrefix(word, []byte("D=[")): // of a vector, which may have blanks
			end := bytes.IndexByte(line[at:], ']')
			if end < 0 {
				return at, "a vector with a bracket at the end"
			}
			at += end + 1
			continue
		case bytes.HasPrefix(word, []byte("D=0x")):
			l.result = word[len("D=0x"):]
			if scan.HexEnd(l.result, 0) < len(l.result) {
				return at + len("D="), "0x and a result"
			}
		case bytes.HasPrefix(word, []byte("A=")):
			var end int
			if l.addr, l.addrs, end = hex(line, at+len("A=")); end != at+len(word) || end == at+len("A=") {
				return at + len("A="), "0x and an address"
			}
			l.access = true
		case bytes.HasPrefix(word, []byte("FetchSeq=")):
			var ok bool
			if l.sequence, ok = itrace.ParseDecimal(word[len("FetchSeq="):]); !ok {
				return at + len("FetchSeq="), "a number"
			}
		case bytes.HasPrefix(word, []byte("D=")), bytes.HasPrefix(word, []byte("CPSeq=")), bytes.HasPrefix(word, []byte("flags=(")):
		default:
			return at, "D=, A=, FetchSeq=, CPSeq= or flags="
		}
		at += len(word)
	}
}
