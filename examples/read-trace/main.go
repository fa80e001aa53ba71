// Command read-trace prints what the frames of a trace file hold, one line a value: GDB's tsave, tracewell's record and gdbserver
// write such files. With a program its symbols and types are used, too.
//
//	go run ./examples/read-trace TRACE [PROGRAM]
package main

import (
	"errors"
	"fmt"
	"io"
	"log"
	"os"

	"tracewell/symbol"
	"tracewell/tfile"
	"tracewell/view"
)

func main() {
	log.SetFlags(0)
	if err := run(os.Args[1:], os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(args []string, out io.Writer) error {
	if len(args) < 1 || len(args) > 2 {
		return errors.New("usage: read-trace TRACE [PROGRAM]")
	}
	content, err := os.ReadFile(args[0]) // tfile.Open reads of a large file what is asked for
	if err != nil {
		return err
	}
	file, err := tfile.OpenBytes(content)
	if err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	var program *symbol.Program
	if len(args) == 2 {
		if program, err = symbol.Open(args[1], symbol.Options{}); err != nil {
			return err
		}
		defer program.Close()
	}
	// What has no name that can be understood is told, and shown by its bytes.
	v, warnings := view.New(file, program)
	for _, warning := range warnings {
		log.Print("warning: ", warning)
	}
	reader := v.NewReader()
	var frame view.Frame
	var value []byte
	for i := range v.Content.NumFrames() {
		if frame, err = v.Frame(i, frame.Bytes()); err != nil {
			return err
		}
		fmt.Fprintf(out, "frame %d: tracepoint %d, %s, pc %v\n", frame.Number, frame.Tracepoint(), v.Source(frame.Tracepoint()), frame.PC)
		reader.Set(frame)
		for _, item := range reader.Items() {
			if item.Slot != nil {
				continue // a register
			}
			var ok bool
			if value, ok = reader.Append(value[:0], item, view.StyleJSON); ok {
				fmt.Fprintf(out, "  %s = %s\n", item.Name, value)
			}
		}
	}
	return nil
}
