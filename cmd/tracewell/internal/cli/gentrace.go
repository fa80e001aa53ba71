package cli

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"

	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/internal/jsontext"
	"tracewell/internal/packed"
	"tracewell/internal/progress"
	"tracewell/internal/text"
	"tracewell/internal/wholefile"
	"tracewell/itrace/generate"
)

// generateCommand is "tracewell gen-trace". A tool that compares traces can be judged only by traces whose differences are known.
// So this interprets a small MIPS program, writes what a simulator would log, and plants faults at positions that it reports. The
// same options make the same bytes: nothing is taken from the clock, and random choices are those of --seed.
type generateCommand struct {
	Instructions quantity         `short:"n" default:"10k" placeholder:"N" help:"Number of instructions that each processor executes, such as 500, 10k or 2M (${default})."`
	Fault        []generate.Fault `sep:"none" placeholder:"KIND@N" help:"Inject a fault at instruction N, counted from 0, or the next one that it can affect: KIND@N or KIND@N.CPU, followed by :COUNT if wanted; may be given several times. The kinds are listed above."`
	Planted      string           `placeholder:"FILE" help:"Write the positions of the faults to a file, as JSON."`
	Output       string           `short:"o" placeholder:"FILE" help:"Write to a file, compressed if its name ends in .gz or .zst (default: standard output)."`
	ELF          string           `name:"elf" placeholder:"FILE" help:"Also write the program, as an ELF file with debug information, and its source as FILE.c."`
	CPUs         int32            `name:"cpus" default:"1" placeholder:"N" help:"Number of processors, whose instructions alternate (${default})."`

	Upper      bool   `group:"Another form of the same trace:" help:"Write hexadecimal digits in upper case."`
	Digits     int    `group:"Another form of the same trace:" default:"8" placeholder:"N" help:"Number of digits of addresses and registers (${default})."`
	TimeBase   uint64 `group:"Another form of the same trace:" placeholder:"N" help:"Time of the first instruction (0)."`
	Scale      string `group:"Another form of the same trace:" default:"clk" placeholder:"UNIT" help:"Unit of time (${default})."`
	IDBase     uint64 `group:"Another form of the same trace:" name:"id-base" placeholder:"N" help:"Number of the first instruction (0)."`
	Security   string `group:"Another form of the same trace:" enum:",s,ns" default:"" placeholder:"s|ns" help:"Suffix of the processor mode."`
	CRLF       bool   `group:"Another form of the same trace:" name:"crlf" help:"End lines with CR LF."`
	Shuffle    bool   `group:"Another form of the same trace:" help:"Shuffle the effects of each instruction."`
	Late       int    `group:"Another form of the same trace:" placeholder:"N" help:"Write registers up to N records late."`
	Seed       uint64 `group:"Another form of the same trace:" placeholder:"N" help:"Seed of the random choices of --shuffle and --late."`
	PlainNames bool   `group:"Another form of the same trace:" help:"Name registers by number, as in r8, not by their ABI names."`
}

// quantity is a number that may end in k, M or G, for thousands, millions and billions.
type quantity int64

// suffixes of a quantity.
var suffixes = map[byte]int64{'k': 1e3, 'm': 1e6, 'g': 1e9}

// maxQuantity is the largest quantity: more instructions than a disk holds, and small enough that products with it do not overflow.
const maxQuantity = 1e15

// Decode implements kong.MapperValue. |0x20 makes a letter of ASCII lower-case, so K and k mean the same. The factors are
// decimal, as instructions are counted, unlike sizes in bytes (record's byteCount).
func (q *quantity) Decode(ctx *kong.DecodeContext) error {
	word := ctx.Scan.Pop().String()
	digits, factor := word, int64(1)
	if n := len(word); n > 0 && suffixes[word[n-1]|0x20] != 0 {
		digits, factor = word[:n-1], suffixes[word[n-1]|0x20]
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 1 || n > maxQuantity/factor {
		return fmt.Errorf("%q is no number of instructions: want one such as 500, 10k or 2M", word)
	}
	*q = quantity(n * factor)
	return nil
}

// Examples implements flags.Exampler.
func (*generateCommand) Examples() string {
	var kinds strings.Builder
	names, texts := generate.FaultKinds()
	for i, name := range names {
		fmt.Fprintf(&kinds, "  %-10s %s\n", name, texts[i])
	}
	return `  tracewell gen-trace > ref.log                               # 10,000 instructions of a MIPS program
  tracewell gen-trace --fault state@5000 > dut.log            # a wrong value, with which the processor goes on
  tracewell match ref.log dut.log                             # finds it
  tracewell gen-trace -n 200k --fault drop@60000:3 --fault interrupt@90000 -o dut.log.zst
  tracewell gen-trace --upper --digits 16 --time-base 1 --shuffle --late 5   # looks different, means the same

This makes test data: traces of a small program that it interprets, as long as wanted and always the same, with
known faults, so that a tool that compares traces has an answer to be held against.

Kinds of fault:
` + kinds.String()
}

// Run implements kong's command. The exit status is 2 if a fault could not be injected, as a test that relies on the fault would
// compare equal traces. The trace is written first, and whole or not at all; positions of faults follow on standard error.
func (c *generateCommand) Run(streams console.Streams) error {
	if err := c.check(); err != nil {
		return err
	}
	ctx, stop := console.UntilInterrupted()
	defer stop()
	bar := c.bar(streams)
	defer bar.Done()
	var planted []generate.Planted
	var unread error // what kept the trace from being written whole, also that nobody wanted it
	generated := func(w io.Writer) error {
		planted, unread = generate.Write(&growing{Writer: console.Interruptible(ctx, w), bar: bar}, c.options())
		return unread
	}
	var err error
	// To a file the trace is compressed as the suffix of its name says, and an interrupted one leaves nothing behind; to a pipe it is
	// written as it is made, and a reader that goes away ends it.
	if c.toFile() {
		method, _ := packed.BySuffix(c.Output)
		err = packed.Write(c.Output, method, generated)
	} else {
		err = console.Write(streams, func(out *console.Output) error { return generated(out) })
	}
	// console.Write makes a broken pipe no error. It is still no whole trace, so neither the program nor the positions are written.
	bar.Done()
	if err != nil || unread != nil {
		return err
	}
	if err := c.writeProgram(); err != nil {
		return err
	}
	return c.tell(planted, streams)
}

// writeProgram writes the program of which the trace is, and its source beside it: the path of the source is in the debug
// information, so that GDB lists it while replay runs the trace.
func (c *generateCommand) writeProgram() error {
	if c.ELF == "" {
		return nil
	}
	// An absolute path, as GDB would look for a relative one in its own current directory.
	source, err := filepath.Abs(c.ELF + ".c")
	if err != nil {
		return err
	}
	// The source first: GDB warns of one that is younger than its program.
	err = wholefile.Write(source, func(w io.Writer) error {
		_, err := io.WriteString(w, generate.Source())
		return err
	})
	if err != nil {
		return err
	}
	return wholefile.Write(c.ELF, func(w io.Writer) error { return generate.WriteELF(w, source) })
}

// check refuses values out of range, before a file is created. Addresses have 32 bits, so there are 8 digits at least.
func (c *generateCommand) check() error {
	for _, limit := range []struct {
		option         string
		n, least, most int64
	}{
		{"--cpus", int64(c.CPUs), 1, 1024}, {"--digits", int64(c.Digits), 8, 64}, {"--late", int64(c.Late), 0, 1 << 20},
	} {
		if limit.n < limit.least || limit.n > limit.most {
			return fmt.Errorf("%s %d: want %d to %d", limit.option, limit.n, limit.least, limit.most)
		}
	}
	if c.Scale == "" || strings.ContainsFunc(c.Scale, func(r rune) bool { return r <= ' ' }) {
		return fmt.Errorf("--scale %q: want one word", c.Scale)
	}
	return nil
}

// options translates the options for itrace/generate.
func (c *generateCommand) options() generate.Options {
	return generate.Options{
		Instructions: int64(c.Instructions), CPUs: c.CPUs, Faults: c.Fault,
		Upper: c.Upper, Digits: c.Digits, TimeBase: c.TimeBase, TimeScale: c.Scale, IDBase: c.IDBase, Security: c.Security,
		CRLF: c.CRLF, Shuffle: c.Shuffle, Late: c.Late, Seed: c.Seed, PlainNames: c.PlainNames,
	}
}

// toFile reports whether the trace goes to a file. "-" is standard output, as everywhere.
func (c *generateCommand) toFile() bool { return c.Output != "" && c.Output != "-" }

// bar shows how far writing has come, in bytes, unless the trace itself goes to the terminal. nil is a bar that shows nothing.
func (c *generateCommand) bar(streams console.Streams) *progress.Bar {
	name := c.Output
	if !c.toFile() {
		if name = "standard output"; console.IsTerminal(streams.Out) {
			return nil
		}
	}
	return progress.Start(streams.Err, progress.Work{Name: "writing " + text.Visible(name)})
}

// growing is a writer that shows how much has been written.
type growing struct {
	io.Writer
	bar  *progress.Bar
	done int64
}

// Write implements io.Writer.
func (g *growing) Write(p []byte) (int, error) {
	n, err := g.Writer.Write(p)
	g.done += int64(n)
	g.bar.Set(g.done)
	return n, err
}

// tell prints where the faults are, and writes the same as JSON for --planted. Faults that were not injected lie behind the end
// of the trace, or nothing from there on can have them.
func (c *generateCommand) tell(planted []generate.Planted, streams console.Streams) error {
	// Of two equal faults that were asked for each is looked up and taken away by itself, so a missing one is not hidden by its twin.
	answer := generate.Outcome{Planted: []generate.PlantedFault{}}
	missed := slices.Clone(c.Fault)
	for _, p := range planted {
		f := p.Describe()
		answer.Planted = append(answer.Planted, f)
		if i := slices.Index(missed, p.Fault); i >= 0 {
			missed = slices.Delete(missed, i, i+1)
		}
		what := ""
		if f.What != "" {
			what = ", " + f.What
		}
		fmt.Fprintf(streams.Err, "tracewell: %s: planted at instruction %d, line %d, pc %s%s\n",
			f.Fault, f.Instruction, f.Line, f.PC, what)
	}
	for _, f := range missed {
		answer.Missed = append(answer.Missed, f.String())
		fmt.Fprintf(streams.Err, "tracewell: %v: not planted: the trace has nothing from there on that it could befall\n", f)
	}
	if c.Planted != "" {
		if err := packed.Write(c.Planted, nil, func(w io.Writer) error { return jsontext.Write(w, answer, "") }); err != nil {
			return err
		}
	}
	if len(missed) > 0 {
		return console.ErrTold
	}
	return nil
}
