package tfile

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// What opening a file may allocate, as multiples of its size: what stays, and all of it with what is collected again, such as
// an error for each malformed line. An action of one byte, as L is, grows most.
const (
	mostKept      = 80
	mostAllocated = 450
	roomAnyway    = 1 << 20
)

// allocated opens a file and returns how many bytes stay allocated for it, and how many were in all.
func allocated(data []byte, opts ...Option) (kept, all int64) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	f, _ := Open(bytes.NewReader(data), int64(len(data)), opts...)
	runtime.GC()
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(f)
	return int64(after.HeapAlloc) - int64(before.HeapAlloc), int64(after.TotalAlloc - before.TotalAlloc)
}

// TestAllocationIsBounded opens files made of as many as possible of what costs most.
func TestAllocationIsBounded(t *testing.T) {
	repeat := func(line func(i int) string) string {
		var out strings.Builder
		for i := 0; out.Len() < 1<<18; i++ {
			out.WriteString(line(i))
		}
		return Magic + out.String() + "\n"
	}
	const empty = "\x01\x00\x00\x00\x00\x00"
	files := map[string]string{
		"unknown lines":   repeat(func(int) string { return "x\n" }),
		"malformed lines": repeat(func(int) string { return "tp \n" }),
		"tracepoints":     repeat(func(i int) string { return fmt.Sprintf("tp T%x:0:E:0:0\n", i) }),
		"no T":            repeat(func(i int) string { return fmt.Sprintf("tp V%x:0:0:0\n", i) }),
		"actions":         repeat(func(int) string { return "tp A1:0:R1R1R1R1R1R1R1R1R1R1R1R1R1R1R1R1R1R1R1R1\n" }),
		"short actions":   repeat(func(int) string { return "tp A1:0:LLLLLLLLLLLLLLLLLLLLRRRRRRRRRRRRRRRRRRRRR\n" }),
		"sources":         repeat(func(int) string { return "tp Z1:0:cmd:0:0:\n" }),
		"variables":       repeat(func(i int) string { return fmt.Sprintf("tsv %x:0:0:\n", i%0x10000) }),
		"description":     repeat(func(int) string { return "tdesc \n" }),
		"registers":       repeat(func(int) string { return "R 1\n" }),
		"colons":          Magic + "tp T" + strings.Repeat(":", 1<<18) + "\n\n",
		"a long line":     Magic + strings.Repeat("x", 1<<18) + "\n\n",
		"empty frames":    Magic + "R 4\n\n" + strings.Repeat(empty, 1<<18) + "\x00\x00",
		"short frames":    Magic + "R 4\n\n" + strings.Repeat(empty, 1<<10) + "\x01\x00\x00\x00\x40\x00" + strings.Repeat("x", 1<<22) + "\x00\x00",
		"claims":          Magic + "R 4\n\n" + strings.Repeat("\x01\x00\xff\xff\xff\xff", 1<<18),
		"damage":          Magic + "R 4\ntp T1:0:E:0:0\n\n" + strings.Repeat("x\x01\x00\x05\x00\x00\x00Rabcd", 1<<16) + "\x00\x00",
	}
	for name, data := range files {
		for _, opts := range [][]Option{nil, {WithRecovery()}} {
			kept, all := allocated([]byte(data), opts...)
			t.Logf("%s: %.1f bytes a byte stay of %.1f", name, float64(kept)/float64(len(data)), float64(all)/float64(len(data)))
			if size := int64(len(data)); kept > roomAnyway+mostKept*size || all > roomAnyway+mostAllocated*size {
				t.Errorf("%s: to open %d bytes %d are allocated, %d of which stay", name, size, all, kept)
			}
		}
	}
}
