package index_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"tracewell/itrace/index"
	"tracewell/itrace/matcher"
)

// A trace is indexed in memory and asked who wrote a place last, and what it held then.
func Example() {
	const text = `1 clk 0 IT (1) 00001000 ac080010 A svc : sw t0,16(zero)
1 clk MW4 00000010 00000005
2 clk 0 IT (2) 00001004 24080007 A svc : addiu t0,zero,7
2 clk R t0 00000007
3 clk 0 IT (3) 00001008 ac080010 A svc : sw t0,16(zero)
3 clk MW4 00000010 00000007
4 clk 0 IT (4) 0000100c 00000000 A svc : nop
`
	var file bytes.Buffer
	if _, err := index.Build(strings.NewReader(text), matcher.Dialect, index.Identity{}, &file); err != nil {
		fmt.Println(err)
		return
	}
	trace, err := index.Open(bytes.NewReader(file.Bytes()), int64(file.Len()), strings.NewReader(text), matcher.Dialect)
	if err != nil {
		fmt.Println(err)
		return
	}
	wants := []index.Want{{What: index.Write, Addr: 0x10, Size: 4}}
	for position := trace.Instructions; ; {
		found, err := trace.Previous(context.Background(), position, wants)
		if err != nil || found == nil {
			break
		}
		fmt.Printf("instruction %d, line %d: %s\n", found.Instruction, found.Item.Line, found.Item.Digits)
		position = found.Instruction
	}
	held, known := make([]byte, 4), make([]index.Knowledge, 4)
	if err := trace.Memory(2, 0x10, held, known, index.Layout{BigEndian: true}); err != nil {
		fmt.Println(err)
	}
	fmt.Printf("in front of instruction 2: %x\n", held)
	// Output:
	// instruction 2, line 6: 00000007
	// instruction 0, line 2: 00000005
	// in front of instruction 2: 00000005
}
