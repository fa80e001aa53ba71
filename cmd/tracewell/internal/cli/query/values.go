package query

import (
	"errors"
	"io"
	"path/filepath"

	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/internal/packed"
	"tracewell/internal/text"
	"tracewell/itrace/index"
	"tracewell/itrace/query"
	"tracewell/itrace/query/vcd"
	"tracewell/view/wire"
)

// valuesCommand is "tracewell query values". Changes are what people look for; a device's register is written for the write's sake,
// so that --all has these, too.
type valuesCommand struct {
	asking
	Objects []string `arg:"" name:"object" complete:"locations" help:"A register by any of its names, an address as 0x1000, a range as 0x1000..0x100f or 0x1000,16, or with --exec a variable; &NAME is a variable whose name is that of a register, too. Several for a file (-o)."`
	picking
	All    bool   `help:"Print every write, also one of the value that was there before."`
	Output string `short:"o" placeholder:"FILE" help:"Write the values to a file for another tool, compressed if its name ends in .gz or .zst: .vcd (Value Change Dump, for GTKWave and other viewers of waveforms), or .parquet."`
	Time   bool   `help:"The axis of a VCD is the time of the trace, in place of the number of the instruction."`
}

// Examples implements flags.Exampler.
func (*valuesCommand) Examples() string {
	return `  tracewell query values run.log sp              # the stack pointer, whenever it changes
  tracewell query values run.log head --exec fw.elf --from main   # a variable
  tracewell query values run.log 0x40000000,4 --all   # every write of a device's register
  tracewell query values run.log sp a0 head --exec fw.elf -o run.vcd   # then: gtkwave run.vcd
`
}

// Run implements kong's command. The values of memory are those of the whole range as one number, whatever part of it is written;
// those of a register stand for themselves for each processor.
func (c *valuesCommand) Run(streams console.Streams) error {
	if c.Output != "" {
		return c.export(streams)
	}
	// Rows of several objects in a table would have values of different widths below one another, and be in no order of time.
	switch {
	case len(c.Objects) > 1:
		return errors.New("a table has the values of one object; -o FILE.vcd and -o FILE.parquet have those of several")
	case c.Time:
		return errors.New("--time is the axis of a file: -o FILE.vcd")
	}
	// What is asked about is looked up when the trace is open: names of registers are those that it has.
	return c.ask(streams, func(a *answer) error {
		name := c.Objects[0]
		o, err := a.Object(name)
		if err != nil {
			return err
		}
		list := a.list(text.Column{Title: "told by"}, text.Column{Title: name, Right: true})
		err = a.Values(a, o, !c.All, c.pick(), func(v query.Value) error {
			d := wire.DescribeHeldValue(a.Trace, v, o.IsRegister())
			return list.add(v.Step, d, toldBy(d, len(o.Names) > 1), orUnknown(d.Value))
		})
		if err == nil {
			a.gaps(o, valueGaps)
		}
		return errors.Join(err, list.end("the trace tells no value of "+name+a.within(), err))
	})
}

// valueGaps are what values are told by.
var valueGaps = [...]index.What{index.RegisterSet, index.Write}

// export writes the values to a file. A waveform has all changes, and an axis; a table has what is asked for.
func (c *valuesCommand) export(streams console.Streams) error {
	_, name := packed.BySuffix(c.Output)
	switch waves := filepath.Ext(name) == ".vcd"; {
	case waves && (c.All || c.pick() != query.Pick{}):
		return errors.New("a VCD has all changes, and nothing else: --all, --limit and --last are for tables")
	case !waves && c.Time:
		return errors.New("--time is the axis of a VCD")
	}
	return c.asking.export(streams, c.Output, c.Objects, map[string]exporter{
		// What the trace does not tell of the first object it tells of no other either, mostly.
		".vcd": func(a *answer, objects []query.Object, out io.Writer) error {
			a.gaps(objects[0], valueGaps)
			return vcd.Write(a, a.Trace, objects, vcd.Options{Time: c.Time}, out)
		},
		".parquet": c.table,
	})
}

// table writes the values of each object behind those of the one before.
func (c *valuesCommand) table(a *answer, objects []query.Object, out io.Writer) error {
	file, err := newRowFile(out)
	if err != nil {
		return err
	}
	for _, o := range objects {
		// Rows of a register of several processors are told apart by the column cpu.
		a.gaps(o, valueGaps)
		if err := a.Values(a, o, !c.All, c.pick(), func(v query.Value) error {
			d := wire.DescribeHeldValue(a.Trace, v, o.IsRegister())
			return file.add(o.Text, d.Step, d.Register, d.Value, "")
		}); err != nil {
			return err
		}
	}
	return file.Flush()
}

// toldBy is where a value is from. The first was there before the instruction in its row.
func toldBy(d wire.HeldValue, several bool) string {
	// A read tells of a value that something else has written: a device, or a processor that the trace lacks.
	// A register of several names, such as a vector that is written in halves, has rows for each.
	switch {
	case d.Initial:
		return "before"
	case d.Read:
		return "a read"
	case several:
		return d.Register
	}
	return "a write"
}
