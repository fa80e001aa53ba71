package replay

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/cmd/tracewell/internal/cli/input"
	"tracewell/cmd/tracewell/internal/cli/recording"
	"tracewell/internal/text"
	"tracewell/internal/wholefile"
	"tracewell/stub"
	"tracewell/target/replay"
	"tracewell/tdesc"
	"tracewell/tfile"
)

// introduce prints how many frames are served. GDB 13 takes the byte order from the program, not from the target description, so
// without a program it takes every target for little endian until the user says otherwise.
func introduce(messages io.Writer, name string, content tfile.Content, program bool) {
	fmt.Fprintf(messages, "%s: %d trace frames\n", name, content.NumFrames())
	if content.Header().Order == binary.BigEndian && !program {
		fmt.Fprintln(messages, "The machine is big endian. Without its program GDB has to be told so: set endian big")
	}
}

// opener opens the frames of a file, with the options of --endian, --register-size and --recover.
type opener func(opts []tfile.Option) (*input.TraceFile, tfile.Content, error)

// openTraceFile opens a trace file for clients. The intact part of a damaged or truncated one is served, and the damage reported.
// GDB needs a target description: that of the file, or of --tdesc, which may come from a trace file of the same machine or a
// running stub. Every client gets a target of its own, on the first frame of none: GDB selects frames itself (QTFrame).
func (c *Command) openTraceFile(open opener, streams console.Streams) (*recording.Recording, error) {
	opts, err := c.Options()
	if err != nil {
		return nil, err
	}
	var o replay.TraceFileOptions
	o.Program = c.Exec
	// The rules are GDB's own and not the manual's, since GDB is the client; 5 seconds are the default of tdesc's --timeout.
	registers := input.DescriptionOptions{Strict: input.DescriptionRules(tdesc.ByGDB), Timeout: 5 * time.Second}
	if c.Tdesc != "" {
		if o.Description, err = registers.Parse(c.Tdesc, streams); err != nil {
			return nil, fmt.Errorf("--tdesc: %w", err)
		}
	}
	t, content, err := open(opts)
	if err != nil {
		return nil, err
	}
	if c.Frame != 0 && (c.Frame < 0 || c.Frame >= content.NumFrames()) {
		err := fmt.Errorf("--frame %d: %s has %d frames, counted from 0", c.Frame, text.Visible(t.Name), content.NumFrames())
		return nil, errors.Join(err, t.Close())
	}
	var warnings []string
	if o.Program == "" {
		if o.Program, err = input.RecordedPath(content.Header()); err != nil {
			warnings = append(warnings, err.Error())
		}
	}
	file, more, err := replay.NewTraceFile(content, o)
	warnings = append(warnings, more...)
	if index, ok := content.(*tfile.File); ok {
		for _, finding := range index.Findings() {
			warnings = append(warnings, finding.String())
		}
	}
	console.Warn(streams.Err, t.Name, warnings)
	if errors.Is(err, replay.ErrNotDescribed) {
		err = fmt.Errorf("%w (--tdesc)", err)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", text.Visible(t.Name), err), t.Close())
	}
	if t.Err != nil {
		fmt.Fprintf(streams.Err, "tracewell: %v\n", t.Err)
	}
	introduce(streams.Err, text.Visible(t.Name), content, o.Program != "")
	return &recording.Recording{Close: t.Close, Config: func() (stub.Config, error) {
		return stub.Config{Target: file.Target(), Attached: true, Frame: c.Frame, Save: wholefile.Write}, nil
	}}, nil
}
