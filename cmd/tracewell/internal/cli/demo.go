package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"tracewell/internal/demo"
	"tracewell/internal/text"
	"tracewell/internal/wholefile"
	"tracewell/tracepoint"
)

// demoCommand is "tracewell demo".
type demoCommand struct {
	Output string `short:"o" placeholder:"FILE" help:"The trace file to write; without this it is tracewell-demo.tf, or tracewell-demo.2.tf and so on, what is not there yet. The program is put beside it, under the same name without .tf."`
}

// Examples implements exampler.
func (*demoCommand) Examples() string {
	return `  tracewell demo                                 # takes a second, needs neither gdb nor a compiler
  tracewell demo -o /tmp/run.tf
`
}

// demoTime is how long the demonstration may take before it is given up; the program runs for less than a second.
const demoTime = 30 * time.Second

// Run implements kong's command.
func (c *demoCommand) Run(streams Streams) error {
	ctx, cancel := untilSignalled(false)
	defer cancel()
	ctx, expire := context.WithTimeoutCause(ctx, demoTime, fmt.Errorf("the program has not ended after %v", demoTime))
	defer expire()
	if c.Output == "" {
		c.Output = freeName("tracewell-demo", func(path string) bool { return isFree(path) && mayHold(programBeside(path)) })
	}
	if program := programBeside(c.Output); !mayHold(program) {
		return fmt.Errorf("%s would be written over by the program of the demonstration: give another name by -o", program)
	}
	return write(streams, func(out *output) error {
		fmt.Fprintln(out, out.style.Heading("Tracing the demo program: "+demoQuestion))
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

// save writes the trace file, and the program beside it, whose path it returns.
func (c *demoCommand) save(engine *tracepoint.Engine, description string) (program string, err error) {
	program = programBeside(c.Output)
	if err := wholefile.Write(c.Output, func(w io.Writer) error { return engine.Save(w, description) }); err != nil {
		return "", err
	}
	// A program that is running cannot be written to, but another can take its name.
	draft, remove, err := executable(filepath.Dir(program))
	if err != nil {
		return "", err
	}
	defer remove()
	return program, os.Rename(draft, program)
}

// programBeside is the path of the program for a trace file.
func programBeside(path string) string {
	program, ok := strings.CutSuffix(path, ".tf")
	if !ok || filepath.Base(path) == ".tf" {
		return path + ".program"
	}
	return program
}

// mayHold reports whether the program may be written to a path: nothing is there, or the same program.
func mayHold(path string) bool {
	if isFree(path) {
		return true
	}
	there, err := os.ReadFile(path)
	return err == nil && bytes.Equal(there, demo.Program())
}

// ends is how many frames from either end of the file are printed.
const ends = 6

// report reads the trace file and prints what is in it.
func (c *demoCommand) report(out *output, program string, streams Streams) error {
	t, err := openTrace(c.Output, program, streams)
	if err != nil {
		return err
	}
	defer t.close()
	if t.err != nil {
		return t.err
	}
	writeStatus(out, t.view.File.Header().Status)
	writeTracepoints(out, t)
	fmt.Fprintln(out)
	table, err := newFrameTable(out, t.view, nil)
	if err != nil {
		return err
	}
	count := t.view.File.NumFrames()
	first := min(count, ends)
	last := max(first, count-ends)
	if err := eachFrame(t.view, 0, first, table.add); err != nil {
		return err
	}
	if last > first {
		if err := table.rows.Line(fmt.Sprintf("… %d more …", last-first)); err != nil {
			return err
		}
	}
	if err := eachFrame(t.view, last, count, table.add); err != nil {
		return err
	}
	if err := table.rows.Flush(); err != nil {
		return err
	}
	fmt.Fprint(out, c.next(out, program))
	return nil
}

// next is what to try with the file.
func (c *demoCommand) next(out *output, program string) string {
	file, exec := quoted(c.Output), quoted(program)
	return "\n" + out.style.Heading("The frames are in "+c.Output+", the program in "+program+". Try:") + `
  tracewell show ` + file + ` --exec ` + exec + `
  tracewell show ` + file + ` --exec ` + exec + ` --frame 0
  tracewell info ` + file + ` --json
  gdb -ex ` + quoted("file "+program) + ` -ex ` + quoted("target tfile "+c.Output) + ` -ex 'tfind start' -ex 'print *job' -ex 'print q->depth'
`
}

// quoted is a path as a shell takes it.
func quoted(path string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+,=@%"
	if strings.Trim(path, plain) == "" && path != "" {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

// executable writes the demo program into a new folder within dir, and returns its path and what removes the folder.
func executable(dir string) (path string, remove func(), err error) {
	folder, err := os.MkdirTemp(dir, "tracewell-demo-")
	if err != nil {
		return "", nil, err
	}
	path = filepath.Join(folder, "demo")
	if err := os.WriteFile(path, demo.Program(), 0o700); err != nil {
		os.RemoveAll(folder)
		return "", nil, err
	}
	return path, func() { os.RemoveAll(folder) }, nil
}
