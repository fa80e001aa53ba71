package bench

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"tracewell/internal/test/gdbtest"
	"tracewell/internal/test/testtool"
	"tracewell/tfile"
)

// The ways to work on a trace file.
const (
	floorWay way = "floor"
	ourWay   way = "tracewell"
	gdbWay   way = "gdb"
)

// fileWay is a way to do a task, and how to measure it.
type fileWay struct {
	name    way
	every   int // measure in every so-manieth round
	measure func(b *testing.B, r *recording) time.Duration
}

// readWhole reads the file from its beginning to its end, as much at once as Open does: the floor of an index.
func readWhole(b *testing.B, r *recording) time.Duration {
	b.Helper()
	f := open(b, r.path)
	defer f.Close()
	buf := make([]byte, 1<<18)
	start := time.Now()
	var size int64
	for {
		n, err := f.Read(buf)
		size += int64(n)
		if err == io.EOF {
			break
		}
		check(b, err)
	}
	took := time.Since(start)
	if size != r.size {
		b.Fatalf("read %d bytes of %d", size, r.size)
	}
	return took
}

func index(b *testing.B, r *recording) time.Duration {
	b.Helper()
	f := open(b, r.path)
	defer f.Close()
	start := time.Now()
	t, err := tfile.Open(f, r.size)
	took := time.Since(start)
	check(b, err)
	if t.NumFrames() != million {
		b.Fatalf("indexed %d frames", t.NumFrames())
	}
	return took
}

// find looks through an index that is there.
func find(b *testing.B, r *recording) time.Duration {
	b.Helper()
	query := tfile.Query{Kind: tfile.ByTracepoint, Tracepoint: rare}
	start := time.Now()
	n, ok, err := r.file.Find(query, 0, nil)
	took := time.Since(start)
	if n != million-1 || !ok || err != nil {
		b.Fatalf("found frame %d, %v, %v", n, ok, err)
	}
	return took
}

// findInGDB is find in a GDB that has the file open; it has no index to make.
func findInGDB(b *testing.B, r *recording) time.Duration {
	b.Helper()
	printed, _ := run(b, testtool.Path(b, "gdb"), "-nx", "-batch", "-ex", "target tfile "+r.path, "-ex", "python import time; start = time.time()",
		"-ex", "tfind tracepoint "+strconv.Itoa(int(rare)), "-ex", `python print("took", time.time() - start)`)
	contains(b, printed, "Found trace frame 999999, tracepoint 2\n")
	_, seconds, _ := bytes.Cut(printed, []byte("took "))
	took, err := time.ParseDuration(string(bytes.TrimSpace(seconds)) + "s")
	check(b, err)
	return took
}

func show(b *testing.B, r *recording) time.Duration {
	b.Helper()
	printed, took := run(b, gdbtest.Binary(b), "show", r.path, "--frame", strconv.Itoa(million-1))
	contains(b, printed, "Frame 999999 of tracepoint 2")
	return took
}

func showInGDB(b *testing.B, r *recording) time.Duration {
	b.Helper()
	printed, took := run(b, testtool.Path(b, "gdb"), "-nx", "-batch", "-ex", "target tfile "+r.path, "-ex", "tfind 999999", "-ex", "tdump")
	contains(b, printed, "Found trace frame 999999, tracepoint 2\n")
	contains(b, printed, "= 999999\n")
	return took
}

// writeFrames makes the frames of the file anew and writes them to nowhere, since what a disk takes varies by ten times.
func writeFrames(b *testing.B, r *recording) time.Duration {
	b.Helper()
	h := r.header(b)
	start := time.Now()
	err := r.writeTo(io.Discard, h)
	took := time.Since(start)
	check(b, err)
	return took
}

// run runs a program to its end, and returns what it printed on standard output and how long it took.
func run(b *testing.B, program string, args ...string) (printed []byte, took time.Duration) {
	b.Helper()
	cmd := exec.Command(program, args...)
	start := time.Now()
	printed, err := cmd.Output()
	took = time.Since(start)
	check(b, err)
	return printed, took
}

func open(b *testing.B, path string) *os.File {
	b.Helper()
	f, err := os.Open(path)
	check(b, err)
	return f
}

func check(b *testing.B, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

func contains(b *testing.B, printed []byte, want string) {
	b.Helper()
	if !bytes.Contains(printed, []byte(want)) {
		b.Fatalf("no %q in\n%s", want, printed)
	}
}
