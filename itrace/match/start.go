package match

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"tracewell/internal/routine"
	"tracewell/itrace"
)

// Where StartCommon looks: simulators and hardware begin with boot code of their own, of a few instructions, and both may execute
// the same one somewhere in it. So some in a row have to be the same.
const (
	commonRun  = 8       // instructions in a row that are at the same addresses
	commonHead = 1 << 12 // instructions of each trace that are looked at, at most
)

// findStart has the comparison start where both traces first come to the same instructions.
func (c *comparison) findStart(inputs *[2]Input) error {
	var flows [2][]uint64
	var errs [2]error
	var wait routine.Group
	for i := range inputs {
		wait.Go(func() { flows[i], errs[i] = inputs[i].flow() })
	}
	wait.Wait()
	if err := errors.Join(errs[0], errs[1]); err != nil {
		return err
	}
	start, ok := commonStart(flows[reference], flows[other])
	if !ok {
		return fmt.Errorf("the beginnings of the traces have no %d instructions in a row that are at the same addresses", commonRun)
	}
	c.options.Start, c.rules.options.Start = &start, &start
	return nil
}

// flow is the addresses of the instructions at the beginning of a trace, of the processor of the first.
func (in *Input) flow() (addrs []uint64, err error) {
	buffered := bufio.NewReaderSize(in.Reader, itrace.DetectBytes)
	in.Reader = buffered
	head, err := buffered.Peek(itrace.DetectBytes)
	if err != nil && err != io.EOF {
		return nil, fmt.Errorf("%s: %w", in.Name, err)
	}
	if err == nil && in.Dialect.Binary == nil { // the last line may be cut
		head = head[:bytes.LastIndexByte(head, '\n')+1]
	}
	reader := itrace.NewReader(bytes.NewReader(head), in.Dialect)
	records, cpu := make([]itrace.Record, recordBatch), int32(0)
	for len(addrs) < commonHead {
		n, err := reader.Read(records)
		for i := range records[:n] {
			r := &records[i]
			if r.Kind != itrace.Instruction {
				continue
			}
			if len(addrs) == 0 {
				cpu = r.CPU
			}
			if r.CPU == cpu {
				addrs = append(addrs, r.Addr)
			}
		}
		if err != nil {
			break
		}
	}
	return addrs, nil
}

// commonStart returns the address from whose first instruction on both go the same way, with the fewest instructions ahead of it.
func commonStart(a, b []uint64) (start uint64, ok bool) {
	first := func(flow []uint64) map[uint64]int {
		places := make(map[uint64]int)
		for i, addr := range flow {
			if _, seen := places[addr]; !seen {
				places[addr] = i
			}
		}
		return places
	}
	inA, inB := first(a), first(b)
	least := len(a) + len(b)
	for i, addr := range a {
		j, both := inB[addr]
		if !both || inA[addr] != i || i+j >= least {
			continue
		}
		same := 0
		for same < commonRun && i+same < len(a) && j+same < len(b) && a[i+same] == b[j+same] {
			same++
		}
		if same == commonRun || i+same == len(a) && j+same == len(b) {
			start, ok, least = addr, true, i+j
		}
	}
	return start, ok
}
