package tracetext_test

import (
	"bytes"
	"fmt"
	"log"
	"os"
	"strings"

	"tracewell/tfile"
	"tracewell/tfile/tracetext"
)

// A test writes the trace file that it needs as text.
func ExampleRead() {
	text := `
tracewell trace text 1
byte-order little
register-size 8
tracepoint 1 at 0x401136 enabled
frame of tracepoint 1
  registers
    +0  36114000
  memory 0x404028 "queue"
end`
	var file bytes.Buffer
	if err := tracetext.Read(strings.NewReader(text), &file); err != nil {
		log.Fatal(err)
	}
	f, err := tfile.OpenBytes(file.Bytes())
	if err != nil {
		log.Fatal(err)
	}
	frame, err := f.Frame(0)
	if err != nil {
		log.Fatal(err)
	}
	memory := make([]byte, 5)
	frame.ReadMemory(0x404028, memory)
	fmt.Printf("%x %s\n", frame.Registers(), memory)
	// Output: 3611400000000000 queue
}

func ExampleWrite() {
	file := []byte("\x7fTRACE0\nR 4\ntsv 1:0:0:68697473\n\n\x01\x00\x1d\x00\x00\x00V\x01\x00\x00\x00\x05\x00\x00\x00\x00\x00\x00\x00" +
		"M\x28\x40\x40\x00\x00\x00\x00\x00\x05\x00queue\x00\x00\x00\x00")
	if err := tracetext.Write(os.Stdout, bytes.NewReader(file), int64(len(file))); err != nil {
		log.Fatal(err)
	}
	// Output:
	// tracewell trace text 1
	// byte-order little
	// register-size 4
	//
	// variable 1 $hits = 0
	//
	// frames
	//
	// frame of tracepoint 1
	//   variable $hits = 5
	//   memory 0x404028  71756575 65  # queue
	//
	// end
}
