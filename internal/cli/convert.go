package cli

import (
	"errors"
	"fmt"
	"os"

	"tracewell/internal/progress"
	"tracewell/internal/symtab"
	"tracewell/internal/text"
	"tracewell/tfile"
	"tracewell/tfile/edit"
	"tracewell/trace"
)

// convertCommand is "tracewell convert".
type convertCommand struct {
	Files      []string       `arg:"" name:"file" help:"The files to read, several of one experiment to be merged, and last the one to write. - is standard input or output."`
	From       string         `placeholder:"FORMAT" help:"What the files that are read hold; without it that is found out. ${readFormats}."`
	To         string         `placeholder:"FORMAT" help:"What to write; without it the suffix of the name says it. ${writeFormats}; .gz or .zst behind it compresses."`
	Frames     *frameRange    `placeholder:"A:B" help:"Take frames A to B only, both included; either may be missing."`
	Tracepoint []trace.Number `placeholder:"N" help:"Take the frames of tracepoint N only; may be given several times."`
	ByTime     bool           `help:"Put the frames in the order of $$trace_timestamp, which all must have collected."`
	Exec       string         `placeholder:"ELF" help:"The program that was traced, for names in JSON and CSV."`
}

// Examples implements exampler.
func (*convertCommand) Examples() string {
	return `  tracewell convert run.tf run.tf.zst                 # compressed; every command reads it so
  tracewell convert run.tf run.txt                    # as text, to read and compare; and back
  tracewell convert run.tf run.jsonl --exec ./server  # a JSON object a line for each frame
  tracewell convert a.tf b.tf both.tf                 # two files of one experiment in one
  tracewell convert run.tf cut.tf --frames 100:200 --tracepoint 3
  ssh host cat run.tf.gz | tracewell convert - run/   # a folder: the Common Trace Format
`
}

// conversion is what is to be written.
type conversion struct {
	streams Streams
	name    string // of what is written, for messages
	content tfile.Content
	bytes   *packedFile // of the trace file that is kept as it is, nil if one is written anew
	symbols *symtab.Table
	bar     *progress.Bar
	damage  damages // frames in it that cannot be read
}

// Run implements kong's command.
func (c *convertCommand) Run(streams Streams) error {
	inputs, out := c.Files[:len(c.Files)-1], c.Files[len(c.Files)-1]
	if len(inputs) == 0 {
		return fmt.Errorf("convert needs a file to read and one to write, and %s is the only one (see tracewell convert --help)", out)
	}
	target, err := chooseDestination(out, c.To, streams)
	if err != nil {
		return err
	}
	if err := c.checkApart(inputs, out, streams); err != nil {
		return err
	}
	conv := &conversion{streams: streams, name: target.title()}
	if c.Exec != "" {
		if conv.symbols, err = readSymbols(c.Exec); err != nil {
			return err
		}
	}
	sources, err := openSources(inputs, c.From, streams)
	if err != nil {
		return err
	}
	defer closeSources(sources)
	if err := c.gather(conv, sources, target.format); err != nil {
		return err
	}
	var problems []error
	for _, s := range sources {
		problems = append(problems, s.err)
	}
	err = target.write(conv)
	return errors.Join(append(problems, conv.damage.err(conv.name), err)...)
}

// checkApart refuses to write over what is read, which somebody will want to have again.
func (c *convertCommand) checkApart(inputs []string, out string, streams Streams) error {
	written, err := os.Stat(out)
	if out == "-" || err != nil || !written.Mode().IsRegular() && !written.IsDir() {
		return nil
	}
	if c.Exec != "" {
		inputs = append(inputs[:len(inputs):len(inputs)], c.Exec)
	}
	for _, name := range inputs {
		read, err := os.Stat(name)
		if name == "-" {
			read, err = streams.In.Stat()
		}
		if err == nil && os.SameFile(read, written) {
			return fmt.Errorf("%s is read, too: write to another file", out)
		}
	}
	return nil
}

// gather puts together what is to be written from what was read. One file that is neither cut nor sorted stays as it is where
// the format can keep it.
func (c *convertCommand) gather(conv *conversion, sources []*source, f *format) error {
	var parts []edit.Part
	for _, s := range sources {
		parts = append(parts, s.parts...)
	}
	conv.content = parts[0].Content
	if len(sources) == 1 && !c.ByTime && !c.cuts() && f.keeps != nil && f.keeps(sources[0]) {
		conv.bytes = sources[0].bytes
		return nil
	}
	if len(parts) > 1 || c.ByTime {
		if err := c.merge(conv, parts); err != nil {
			return err
		}
	}
	return c.cut(conv)
}

// cuts reports whether some frames only are wanted.
func (c *convertCommand) cuts() bool { return c.Frames != nil || len(c.Tracepoint) > 0 }

func (c *convertCommand) merge(conv *conversion, parts []edit.Part) error {
	order, frames := edit.ByFile, 0
	if c.ByTime {
		order = edit.ByTime
	}
	for _, p := range parts {
		frames += p.Content.NumFrames()
	}
	bar := progress.Start(conv.streams.Err, progress.Work{Name: "sorting", Total: int64(frames), Unit: progress.Frames})
	content, changes, err := edit.Merge(parts, order, bar.Set)
	bar.Done()
	if err != nil {
		return err
	}
	for _, change := range changes {
		fmt.Fprintf(conv.streams.Err, "tracewell: %s\n", text.Visible(change.String()))
	}
	conv.content = content
	return nil
}

func (c *convertCommand) cut(conv *conversion) error {
	if !c.cuts() {
		return nil
	}
	choice := edit.Choice{Tracepoints: c.Tracepoint}
	if c.Frames != nil {
		var err error
		if choice.First, choice.End, err = c.Frames.in(conv.content.NumFrames()); err != nil {
			return err
		}
	}
	var err error
	conv.content, err = edit.Select(conv.content, choice)
	return err
}
