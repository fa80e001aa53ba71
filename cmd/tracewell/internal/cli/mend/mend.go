// Package mend is "tracewell mend": it puts a program back in order whose tracer was killed.
//
// A program whose tracepoints are jumps goes on when its tracer is killed by SIGKILL, at nearly full speed: the code that the jumps
// lead to does nothing without a tracer. The jumps stay until somebody removes them, and so do the frames that the tracer had not
// fetched. What can be removed without harm, and how, is for package target/linux to decide; this package saves and reports.
//
// # Exit status
//
// 0 for a program that was mended, with --dry-run for one that can be; 1 if there is nothing to mend, or something was left that is
// none of the tracer's any more; 2 for a failure, as when frames would be lost because there is no file for them.
package mend

import (
	"fmt"
	"io"
	"strconv"

	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/internal/wholefile"
)

// Command is "tracewell mend".
type Command struct {
	PID      int    `arg:"" name:"pid" help:"Process id of the program."`
	Output   string `short:"o" placeholder:"FILE" help:"Save the frames that the tracer had not fetched, as a trace file; of a second and third tracer as FILE-2 and FILE-3."`
	Recorded string `placeholder:"FILE" help:"The trace file that the tracer was writing when it was killed. It may have some of the frames already; they are left out, so that both files together have each frame once."`
	DryRun   bool   `short:"n" help:"Report what there is to do, without stopping the program or changing anything."`
	Drop     bool   `help:"Go on without -o although there are frames, which are lost then."`

	recorded int // frames that were left out
}

// Examples implements flags.Exampler.
func (*Command) Examples() string {
	return `  tracewell mend --dry-run 4711       # what a tracer that was killed has left in process 4711
  tracewell mend 4711 -o rest.tf      # remove it, and keep the frames
  tracewell mend 4711 --recorded run.tf -o rest.tf    # without those that are in run.tf
  tracewell mend 4711 --drop          # remove it, frames and all
`
}

// Run implements kong's command. The system is checked first: elsewhere the process id may be that of anything.
func (c *Command) Run(streams console.Streams) error {
	if err := console.CheckTracing("mend"); err != nil {
		return err
	}
	return c.mend(streams)
}

// report is what was found and done. It is apart from package linux's, so that what is printed can be tested on every system.
// Numbers are of sites, but for frames, and for passed, which counts bytes of the buffer without a whole frame.
type report struct {
	sites, restored, foreign, damaged, frames, recorded, passed int
	file                                                        string // that has the recorded ones
	left                                                        []error
	dry                                                         bool
}

// print tells what was done, a fact a line. The first line is there always; the others only if there is something that a user may
// want to look into.
func (r *report) print(w io.Writer, pid int) {
	verb, fetched := "restored", "saved"
	if r.dry {
		verb, fetched = "to be restored", "to be saved"
	}
	fmt.Fprintf(w, "process %d: %s of %s %s", pid, strconv.Itoa(r.restored), count(r.sites, "jump"), verb)
	if r.frames > 0 {
		fmt.Fprintf(w, ", %s %s", count(r.frames, "frame"), fetched)
	}
	fmt.Fprintln(w)
	// Those that were left out are told: the two numbers together are what a dry run finds.
	if r.recorded > 0 {
		fmt.Fprintf(w, "%s more in %s already\n", count(r.recorded, "frame"), r.file)
	}
	if r.foreign > 0 {
		fmt.Fprintf(w, "%s with code that is neither the program's own nor the tracer's: not touched\n", count(r.foreign, "location"))
	}
	if r.damaged > 0 {
		fmt.Fprintf(w, "%s of the tracer's that the program has written over\n", count(r.damaged, "note"))
	}
	if r.passed > 0 {
		fmt.Fprintf(w, "%d bytes of the buffer hold no whole frame: hits that were cut short\n", r.passed)
	}
	for _, err := range r.left {
		fmt.Fprintln(w, err)
	}
}

// incomplete reports whether anything was left that should not have been. Bytes without a frame are as they should be: a thread
// that was taken back to its site, to hit it again, leaves some.
func (r *report) incomplete() bool { return r.foreign > 0 || r.damaged > 0 || len(r.left) > 0 }

// count is a number of things.
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// saveAll writes files, the first under the name that was given. There is one for each tracer that was killed: their definitions
// have nothing to do with each other.
func (c *Command) saveAll(write []func(io.Writer) error) error {
	for i, w := range write {
		name := c.Output
		if i > 0 {
			name = fmt.Sprintf("%s-%d", name, i+1)
		}
		if err := wholefile.Write(name, w); err != nil {
			return err
		}
	}
	return nil
}
