package index

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"strings"
	"testing"

	"tracewell/itrace"
	"tracewell/itrace/generate"
	"tracewell/itrace/matcher"
)

// questions asks a trace about everything once, and returns the first error.
func questions(t *Trace) error {
	ctx := context.Background()
	for position := int64(0); position <= t.Instructions; position += max(t.Instructions/7, 1) {
		if _, err := t.Registers(position); err != nil {
			return err
		}
		p := make([]byte, 64)
		if err := t.Memory(position, 0x1000, p, make([]Knowledge, len(p)), Layout{BigEndian: true}); err != nil {
			return err
		}
		for _, w := range []Want{{What: Write, Addr: 0x800, Size: 4}, {What: Execution, Addr: 0x80008000}, {What: RegisterSet}, {What: Turn}} {
			if _, err := t.Next(ctx, position, []Want{w}); err != nil {
				return err
			}
			if _, err := t.Previous(ctx, position, []Want{w}); err != nil {
				return err
			}
		}
		if _, err := t.AtTime(uint64(position)); err != nil {
			return err
		}
		if _, err := t.AtLine(position); err != nil {
			return err
		}
	}
	return nil
}

// TestDamagedIndex changes and cuts an index everywhere: it is found when the index is opened and looked through.
func TestDamagedIndex(t *testing.T) {
	text, _ := generated(t, generate.Options{Instructions: 30_000})
	_, file := indexed(t, text, matcher.Dialect)
	open := func(b []byte) error {
		trace, err := Open(bytes.NewReader(b), int64(len(b)), bytes.NewReader(text), matcher.Dialect)
		if err != nil {
			return err
		}
		return trace.Verify()
	}
	if err := open(file); err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(3, 4))
	for i := range 800 {
		broken := bytes.Clone(file)
		at := random.IntN(len(file))
		if i < 400 { // the ends, where all is told that is not in parts
			at = min(i/2, len(file)-1)
			if i%2 == 1 {
				at = len(file) - 1 - i/2
			}
		}
		broken[at] ^= 1 << random.IntN(8)
		wantDamaged(t, open(broken), "byte %d changed", at)
		wantDamaged(t, open(file[:at]), "cut at byte %d", at)
	}
	wantDamaged(t, open(append(bytes.Clone(file), 0)), "a byte more")
	wantDamaged(t, open(nil), "empty")
	wantDamaged(t, open([]byte("1 clk 0 IT (1) 00000000 00000000 A svc : nop\n")), "no index")
}

func wantDamaged(t *testing.T, err error, what string, args ...any) {
	t.Helper()
	var damaged *DamagedError
	if !errors.As(err, &damaged) {
		t.Errorf(what+": error %v", append(args, err)...)
	}
}

// TestChangedTrace changes and cuts the trace behind the back of its index: answers are those of before, or errors.
func TestChangedTrace(t *testing.T) {
	text, _ := generated(t, generate.Options{Instructions: 30_000})
	_, file := indexed(t, text, matcher.Dialect)
	random := rand.New(rand.NewPCG(5, 6))
	for range 20 {
		changed := bytes.Clone(text)
		at := random.IntN(len(text))
		changed[at] ^= 1
		for _, now := range [][]byte{changed, text[:at]} {
			trace, err := Open(bytes.NewReader(file), int64(len(file)), bytes.NewReader(now), matcher.Dialect)
			if err != nil {
				t.Fatal(err)
			}
			// Every block is read sooner or later by one who steps through the trace.
			for leaf := range trace.dir.leaves {
				if _, err = trace.block(leaf); err != nil {
					break
				}
			}
			wantDamaged(t, err, "the trace, byte %d", at)
		}
	}
}

// FuzzIndex opens anything as an index. What is taken for one does no harm, with its checksums made right again.
func FuzzIndex(f *testing.F) {
	text, _ := generated(f, generate.Options{Instructions: 300})
	_, file := indexed(f, text, matcher.Dialect)
	f.Add(file, uint(0))
	f.Add(file, uint(len(file)-40))
	f.Add([]byte(magic), uint(0))
	f.Fuzz(func(t *testing.T, b []byte, at uint) {
		mend(b)
		trace, err := Open(bytes.NewReader(b), int64(len(b)), bytes.NewReader(text), matcher.Dialect)
		if err != nil {
			return
		}
		_ = trace.Verify()
		_ = questions(trace)
	})
}

// FuzzTrace indexes anything as a trace, and compares with what its records say one by one.
func FuzzTrace(f *testing.F) {
	text, _ := generated(f, generate.Options{Instructions: 20, CPUs: 2, Split: true})
	f.Add(text)
	f.Add([]byte("1 clk 0 IT (1) ffffffffffffffff 00 A svc : x\n1 clk MW8 fffffffffffffffc 1122334455667788\n1 clk R r1 xx\n"))
	f.Add([]byte("1 clk R r1 0\n1 clk MW4294967295 0 0\n1 clk MR0 0 0\n1 clk 2147483647 IT (1) 0 0 A svc : x"))
	f.Fuzz(func(t *testing.T, text []byte) {
		trace, _ := indexed(t, text, matcher.Dialect)
		if err := questions(trace); err != nil {
			t.Fatal(err)
		}
		held := make(map[string]string)
		for r, err := range itrace.NewReader(bytes.NewReader(text), matcher.Dialect).All() {
			if err != nil {
				t.Fatal(err)
			}
			if r.Kind == itrace.Register {
				held[fmt.Sprint(r.CPU, strings.ToLower(string(r.Name)))] = string(r.Digits)
			}
		}
		values, err := trace.Registers(trace.Instructions)
		if err != nil || trace.Instructions > 0 && len(values) != len(held) {
			t.Fatalf("%d registers, want %d; %v", len(values), len(held), err)
		}
	})
}

// mend makes the checksum of a directory right, so that damage goes deeper.
func mend(b []byte) {
	if len(b) < int(trailerSize) {
		return
	}
	trailer := b[len(b)-int(trailerSize):]
	at, length := binary.LittleEndian.Uint64(trailer), binary.LittleEndian.Uint64(trailer[8:])
	if at < uint64(len(b)) && length < uint64(len(b))-at {
		binary.LittleEndian.PutUint32(trailer[16:], crc32.Checksum(b[at:at+length], castagnoli))
	}
}

// TestQuestions is that all questions of the tests above have answers.
func TestQuestions(t *testing.T) {
	text, _ := generated(t, generate.Options{Instructions: 30_000, CPUs: 2})
	trace, _ := indexed(t, text, matcher.Dialect)
	if err := questions(trace); err != nil {
		t.Error(err)
	}
}

// FuzzParts reads anything as a set and as values.
func FuzzParts(f *testing.F) {
	f.Add(appendSet(nil, []span{{1, 2}, {5, 9}}), uint64(5), uint64(5))
	f.Add((&slot{key: 3, digits: []byte("12xx"), line: 7}).append([]byte{1}), uint64(0), uint64(1))
	f.Fuzz(func(t *testing.T, b []byte, lo, hi uint64) {
		set(b).overlaps(span{lo, hi})
		values, err := parseValues(b)
		for _, v := range values {
			if err == nil && len(v.Digits) > 2*len(b) {
				t.Errorf("%d digits in %d bytes", len(v.Digits), len(b))
			}
		}
	})
}

// FuzzSpans collects keys and asks for each, and for those beside them.
func FuzzSpans(f *testing.F) {
	f.Add([]byte{1, 2, 3, 200, 201, 7}, uint8(3))
	f.Fuzz(func(t *testing.T, keys []byte, n uint8) {
		g := newGather()
		has := make(map[uint64]bool)
		keys = keys[:min(len(keys), 64)]
		for i, k := range keys {
			key := uint64(k) * uint64(i+1) // collisions of pieces, and spans that touch
			g.add(key, uint64(n))
			for j := range uint64(n) {
				has[key+j] = true
			}
		}
		s := set(appendSet(nil, union(g.take(nil))))
		for key := range has {
			for _, k := range []uint64{key, key + 1, key - 1} {
				if s.overlaps(span{k, k}) != has[k] {
					t.Fatalf("key %d: %v", k, !has[k])
				}
			}
		}
	})
}
