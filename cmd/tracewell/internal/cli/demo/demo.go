// Package demo is "tracewell demo": the built-in program, traced, with what was collected.
//
// # The flow of the demonstration
//
// The program, an executable for Linux x86-64 that is part of this one, is written into a folder of its own and launched. A
// tracepoint with a condition is set at the function that does a job, and the program runs to its end. The frames are saved as a
// trace file, the program is put beside it, and the file is read back and printed as info and show would. The last lines are
// commands for the user to try.
//
// The command depends on nothing but the kernel: no GDB, compiler, debug information or shell. So it also tells whether tracing
// works on a machine at all. Everything that it makes besides the two files is gone when it ends, also after an error or a
// signal.
package demo

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/cmd/tracewell/internal/cli/input"
	"tracewell/cmd/tracewell/internal/cli/printing"
	"tracewell/internal/demo"
	"tracewell/internal/text"
	"tracewell/internal/wholefile"
	"tracewell/tracepoint"
)

// Command is "tracewell demo".
type Command struct {
	Output string `short:"o" placeholder:"FILE" help:"The trace file to write (default: tracewell-demo.tf, or the first of tracewell-demo.2.tf and so on that does not exist). The program is written beside it, under the same name without .tf."`
}

// Examples implements flags.Exampler.
func (*Command) Examples() string {
	return `  tracewell demo                                 # takes a second, needs neither gdb nor a compiler
  tracewell demo -o /tmp/run.tf
`
}

// demoQuestion is what the demonstration finds out. A condition makes it worth a tracepoint: printing every call would drown the
// answer.
const demoQuestion = "which jobs come to " + demo.Handle + " while more than 24 others wait?"

// demonstration is what is left of a run of the demo program under trace. The process has ended by then.
type demonstration struct {
	engine      *tracepoint.Engine // holds the frames
	description string             // of the target they are of
	printed     string             // by the program
}

// demoTime is the timeout of the demonstration, whose program runs for less than a second: on a machine where ptrace is
// restricted in a way that is not noticed, it must not hang.
const demoTime = 30 * time.Second

// Run implements kong's command. Names are checked before the program runs, so that the work of a second is not lost at its end.
func (c *Command) Run(streams console.Streams) error {
	if err := console.CheckTracing("demo"); err != nil {
		return err
	}
	ctx, cancel := console.UntilSignalled(false)
	defer cancel()
	ctx, expire := context.WithTimeoutCause(ctx, demoTime, fmt.Errorf("the program has not ended after %v", demoTime))
	defer expire()
	if c.Output == "" {
		c.Output = console.FreeName("tracewell-demo",
			func(path string) bool { return console.IsFree(path) && mayHold(programBeside(path)) })
	}
	if program := programBeside(c.Output); !mayHold(program) {
		// A file of that name may be anything, such as the user's own program: only an earlier copy of the demo's is replaced.
		return fmt.Errorf("%s would be written over by the program of the demonstration: give another name by -o", program)
	}
	// The output is buffered, so the question and the answer appear together, in a second or so.
	return console.Write(streams, func(out *console.Output) error {
		fmt.Fprintln(out, out.Style.Heading("Tracing the demo program: "+demoQuestion))
		d, err := traceDemo(ctx)
		if err != nil {
			return fmt.Errorf("demo: %w", err)
		}
		fmt.Fprintf(out, "the program printed: %s\n", text.Visible(strings.TrimSpace(d.printed)))
		program, err := c.save(d.engine, d.description)
		if err != nil {
			return err
		}
		return c.report(out, program, streams)
	})
}

// save writes the trace file, and beside it the program, whose path it returns: without the program, GDB and show would have no
// names for what was collected. Each file is written under another name and then renamed.
func (c *Command) save(engine *tracepoint.Engine, description string) (program string, err error) {
	program = programBeside(c.Output)
	if err := wholefile.Write(c.Output, func(w io.Writer) error { return engine.Save(w, description) }); err != nil {
		return "", err
	}
	// A program that is running cannot be written to, but another can take its name.
	// The draft is in the same folder, since a rename does not cross file systems.
	draft, remove, err := executable(filepath.Dir(program))
	if err != nil {
		return "", err
	}
	defer remove()
	return program, os.Rename(draft, program)
}

// programBeside is the path of the program for a trace file: its name without .tf, or with .program if there is nothing to take
// away.
func programBeside(path string) string {
	program, ok := strings.CutSuffix(path, ".tf")
	if !ok || filepath.Base(path) == ".tf" {
		return path + ".program"
	}
	return program
}

// mayHold reports whether the program may be written to a path: nothing is there, or the same program, as after an earlier
// demonstration.
func mayHold(path string) bool {
	if console.IsFree(path) {
		return true
	}
	there, err := os.ReadFile(path)
	return err == nil && bytes.Equal(there, demo.Program())
}

// ends is how many frames are printed from the beginning and from the end of the file; the table then fits a terminal of 24 lines.
const ends = 6

// report reads the trace file back and prints it, as info and show would: what users see is what the file holds.
func (c *Command) report(out *console.Output, program string, streams console.Streams) error {
	t, err := input.OpenTrace(c.Output, program, streams)
	if err != nil {
		return err
	}
	defer t.Close()
	if t.Err != nil {
		return t.Err
	}
	// These are the functions that info and show print with, so the demonstration cannot drift away from them.
	printing.WriteStatus(out, t.View.File.Header().Status)
	printing.WriteTracepoints(out, t)
	fmt.Fprintln(out)
	table, err := printing.NewFrameTable(out, t.View, nil)
	if err != nil {
		return err
	}
	count := t.View.File.NumFrames()
	first := min(count, ends)
	// A file of few frames is printed whole, and none of it twice.
	last := max(first, count-ends)
	if err := printing.EachFrame(t.View, 0, first, table.Add); err != nil {
		return err
	}
	if last > first {
		if err := table.Rows.Line(fmt.Sprintf("… %d more …", last-first)); err != nil {
			return err
		}
	}
	if err := printing.EachFrame(t.View, last, count, table.Add); err != nil {
		return err
	}
	if err := table.Rows.Flush(); err != nil {
		return err
	}
	fmt.Fprint(out, c.next(out, program))
	return nil
}

// next is the commands to try with the file. Paths are quoted for the shell, as users copy the lines.
func (c *Command) next(out *console.Output, program string) string {
	file, exec := quoted(c.Output), quoted(program)
	return "\n" + out.Style.Heading("The frames are in "+c.Output+", the program in "+program+". Try:") + `
  tracewell show ` + file + ` --exec ` + exec + `
  tracewell show ` + file + ` --exec ` + exec + ` --frame 0
  tracewell info ` + file + ` --json
  gdb -ex ` + quoted("file "+program) + ` -ex ` + quoted("target tfile "+c.Output) +
		` -ex 'tfind start' -ex 'print *job' -ex 'print q->depth'
`
}

// quoted is a path as a POSIX shell takes it: as it is if it has no character with a meaning to the shell, else in single quotes.
func quoted(path string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+,=@%"
	// Within single quotes a POSIX shell takes every character as it is but the quote itself, which has to stand outside of them.
	if strings.Trim(path, plain) == "" && path != "" {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

// executable writes the demo program into a new folder within dir, the folder for temporary files if dir is empty. It returns the
// path and a function that removes the folder with all that is in it. The folder is the user's alone (mode 0700), so nobody
// exchanges the program.
func executable(dir string) (path string, remove func(), err error) {
	folder, err := os.MkdirTemp(dir, "tracewell-demo-")
	if err != nil {
		return "", nil, err
	}
	// The name is what the kernel calls the process; mode 0700 makes it executable for the user, as the folder is.
	path = filepath.Join(folder, "demo")
	if err := os.WriteFile(path, demo.Program(), 0o700); err != nil {
		os.RemoveAll(folder)
		return "", nil, err
	}
	return path, func() { os.RemoveAll(folder) }, nil
}
