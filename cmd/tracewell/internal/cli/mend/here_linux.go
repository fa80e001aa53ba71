package mend

import (
	"fmt"
	"io"
	"os"

	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/target/linux"
	"tracewell/tfile"
)

// mend mends the process, and reports what it did. The tracer here has no program: it attaches for moments.
func (c *Command) mend(streams console.Streams) error {
	t, err := linux.New(linux.Streams{In: streams.In, Out: streams.Out, Err: streams.Err})
	if err != nil {
		return err
	}
	defer t.Close()
	how := linux.Mending{DryRun: c.DryRun}
	if !c.Drop {
		how.Save = c.save
	}
	done, err := t.Mend(c.PID, how)
	switch {
	case err != nil:
		return err
	case done.Arenas == 0:
		fmt.Fprintf(streams.Out, "process %d: nothing to mend\n", c.PID)
		return console.ErrFinding
	}
	r := report{sites: done.Sites, restored: done.Restored, foreign: done.Foreign, damaged: done.Damaged,
		frames: done.Frames - c.recorded, recorded: c.recorded, file: c.Recorded, passed: done.Passed, left: done.Kept, dry: c.DryRun}
	r.print(streams.Out, c.PID)
	if r.incomplete() {
		return console.ErrFinding
	}
	return nil
}

// save writes the frames. It is called before the memory goes that they are in, and its error keeps that: frames that nobody has
// asked to drop are not lost for want of an option.
func (c *Command) save(all []linux.Salvaged) error {
	// What the run's own file has needs no other one: -o can be left out if that is all.
	all, err := c.beyond(all)
	if err != nil || len(all) == 0 {
		return err
	}
	if c.Output == "" {
		n := 0
		for _, s := range all {
			n += len(s.Frames)
		}
		return fmt.Errorf("%s to be saved by -o FILE, or to be dropped by --drop", count(n, "frame"))
	}
	var write []func(io.Writer) error
	for _, s := range all {
		write = append(write, func(w io.Writer) error { return writeFile(w, &s) })
	}
	return c.saveAll(write)
}

// beyond leaves out the frames that the trace file of the run has, and tracers of which nothing else is left. The file is as the
// tracer left it, which may be without an end; its whole frames count.
func (c *Command) beyond(all []linux.Salvaged) (rest []linux.Salvaged, err error) {
	if c.Recorded == "" {
		return all, nil
	}
	file, err := os.Open(c.Recorded)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	status, err := file.Stat()
	if err != nil {
		return nil, err
	}
	f, err := tfile.Open(file, status.Size())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Recorded, err)
	}
	c.recorded = 0
	for _, s := range all {
		n, err := s.Beyond(f)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.Recorded, err)
		}
		if c.recorded += n; len(s.Frames) > 0 {
			rest = append(rest, s)
		}
	}
	return rest, nil
}

// writeFile writes a trace file. The frames are those of one run, so they have one header. How often tracepoints were hit is not
// in it: only the tracer knew that.
func writeFile(w io.Writer, s *linux.Salvaged) error {
	file, err := tfile.NewWriter(w, s.Header)
	if err != nil {
		return err
	}
	for _, f := range s.Frames {
		if err := file.WriteFrame(f); err != nil {
			return err
		}
	}
	return file.Close()
}
