package cli

import (
	"errors"
	"fmt"

	"tracewell/internal/frameview"
)

// showCommand is "tracewell show".
type showCommand struct {
	File      string      `arg:"" help:"The trace file; - is standard input."`
	Frame     *int        `placeholder:"N" xor:"frames" help:"Print frame N in full."`
	Frames    *frameRange `placeholder:"A:B" xor:"frames" help:"Print frames A to B only, both included; either may be missing."`
	Registers []string    `short:"r" placeholder:"NAME" help:"Print these registers only. Without it the table has a choice of them, --frame and --json have all."`
	Exec      string      `placeholder:"ELF" help:"The program that was traced, for the names of its functions and variables."`
	JSON      bool        `name:"json" help:"Print one JSON object a line for each frame."`
}

// Examples implements exampler.
func (*showCommand) Examples() string {
	return `  tracewell show run.tf                          # every frame in a table
  tracewell show run.tf --frame 7                # one in full, as GDB's tdump shows it
  tracewell show run.tf --frames 100: -r rdi,rax # from frame 100 on, two registers
  tracewell show run.tf --exec ./server          # with names for addresses
  tracewell show run.tf --json | jq .registers.rip
`
}

// Run implements kong's command.
func (c *showCommand) Run(streams Streams) error {
	t, err := openTrace(c.File, c.Exec, streams)
	if err != nil {
		return err
	}
	defer t.close()
	if len(c.Registers) > 0 {
		if err := t.view.Select(c.Registers); err != nil {
			return err
		}
	}
	return write(streams, func(out *output) error {
		if c.Frame != nil {
			return c.one(out, t)
		}
		return errors.Join(c.many(out, t), t.err)
	})
}

// one prints one frame.
func (c *showCommand) one(out *output, t *traceFile) error {
	if count := t.view.File.NumFrames(); *c.Frame < 0 || *c.Frame >= count {
		err := fmt.Errorf("%s: there is no frame %d: %s", t.name, *c.Frame, frameCount(count))
		return errors.Join(err, t.err)
	}
	frame, err := t.view.Frame(*c.Frame, nil)
	if err != nil {
		return err
	}
	if c.JSON {
		out.Write(append(t.view.AppendJSON(nil, frame), '\n'))
	} else {
		writeFrame(out, t.view, frame)
	}
	var damage damages
	damage.note(frame)
	return damage.err(t.name)
}

// many prints a range of frames.
func (c *showCommand) many(out *output, t *traceFile) error {
	wanted := wholeFile
	if c.Frames != nil {
		wanted = *c.Frames
	}
	first, end, err := wanted.in(t.view.File.NumFrames())
	if err != nil {
		return fmt.Errorf("%s: %w", t.name, err)
	}
	if c.JSON {
		return c.objects(out, t, first, end)
	}
	table, err := newFrameTable(out, t.view, c.Registers)
	if err != nil {
		return err
	}
	var damage damages
	err = eachFrame(t.view, first, end, func(frame frameview.Frame) error {
		damage.note(frame)
		return table.add(frame)
	})
	if err != nil {
		return err
	}
	if err := table.rows.Flush(); err != nil {
		return err
	}
	return damage.err(t.name)
}

// objects prints a range of frames as JSON.
func (c *showCommand) objects(out *output, t *traceFile, first, end int) error {
	var line []byte
	var damage damages
	err := eachFrame(t.view, first, end, func(frame frameview.Frame) error {
		damage.note(frame)
		line = append(t.view.AppendJSON(line[:0], frame), '\n')
		_, err := out.Write(line)
		return err
	})
	if err != nil {
		return err
	}
	return damage.err(t.name)
}

// eachFrame calls do for the frames from first up to but not including end. The bytes of a frame are valid during the call.
func eachFrame(view *frameview.View, first, end int, do func(frameview.Frame) error) error {
	var frame frameview.Frame
	for i := first; i < end; i++ {
		var err error
		if frame, err = view.Frame(i, frame.Bytes()); err != nil {
			return err
		}
		if err := do(frame); err != nil {
			return err
		}
	}
	return nil
}

// damages counts the frames that could not be read whole.
type damages struct {
	count int
	first error
}

func (d *damages) note(frame frameview.Frame) {
	if frame.Damaged == nil {
		return
	}
	if d.count++; d.count == 1 {
		d.first = fmt.Errorf("frame %d: %w", frame.Number, frame.Damaged)
	}
}

// err is what there is to say of them, nil without any.
func (d *damages) err(name string) error {
	switch d.count {
	case 0:
		return nil
	case 1:
		return fmt.Errorf("%s: %w", name, d.first)
	}
	return fmt.Errorf("%s: %d frames are damaged, the first is %w", name, d.count, d.first)
}
