package record

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"tracewell/cmd/tracewell/internal/cli/console"
)

// outputFile is where the trace file of a run goes. Its counts and definitions stand in front of the frames and are known last, so
// that of "-o -" is made in a folder of its own and written to standard output when it is complete.
type outputFile struct {
	path   string // "" for no file
	folder string // "" unless it goes to standard output
}

// output is that of --output, unless the program or a script would be overwritten, or has a free name made of that of the program,
// in the current directory. A run that prints its frames, or what comes of them, writes none unless one is asked for.
func (c *Command) output(streams console.Streams) (outputFile, error) {
	switch {
	case c.fileless():
		return outputFile{}, nil
	case c.Output == "-":
		if console.IsTerminal(streams.Out) {
			return outputFile{}, errors.New("record: -o -: standard output is a terminal, and a trace file is not text")
		}
		folder, err := os.MkdirTemp("", "tracewell-record-")
		return outputFile{filepath.Join(folder, "run.tf"), folder}, err
	case c.Output != "":
		return outputFile{path: c.Output}, console.KeepApart(c.Output, append(c.Script, c.executable()), streams)
	}
	name := "trace"
	if exe := c.executable(); exe != "" {
		name = filepath.Base(exe)
	} else if len(c.Comm) > 0 {
		name = filepath.Base(c.Comm[0])
	}
	return outputFile{path: console.FreeName(name, console.IsFree)}, nil
}

// fileless reports whether what is printed is all that is to come of the run.
func (c *Command) fileless() bool { return c.prints() && c.Output == "" }

// String is the name of the file in messages.
func (o outputFile) String() string {
	if o.folder != "" {
		return "standard output"
	}
	return o.path
}

// deliver writes a file that goes to standard output, if there is one, and removes it.
func (o outputFile) deliver(to io.Writer) error {
	if o.folder == "" {
		return nil
	}
	defer os.RemoveAll(o.folder)
	file, err := os.Open(o.path)
	if errors.Is(err, fs.ErrNotExist) { // the run never began
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	if _, err = io.Copy(to, file); err == nil || console.IsBrokenPipe(err) {
		return nil
	}
	return fmt.Errorf("standard output: %w", err)
}
