package query_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tracewell/itrace"
	"tracewell/itrace/execution"
	"tracewell/itrace/generate"
	"tracewell/itrace/matcher"
	"tracewell/itrace/query"
)

// opened is a trace to ask, and its records.
func opened(t testing.TB, text []byte, d *itrace.Dialect, o execution.Options) (*query.Trace, *story) {
	t.Helper()
	e, _, err := execution.Open(execution.Source{Name: "trace", Content: bytes.NewReader(text), Size: int64(len(text))}, d, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	asked, err := query.New(e, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := &story{bigEndian: e.Digits().BigEndian, instructions: asked.Instructions}
	number := int64(-1)
	for r, err := range itrace.NewReader(bytes.NewReader(text), d).All() {
		if err != nil {
			t.Fatal(err)
		}
		if r.Kind == itrace.Instruction {
			number++
		}
		c := told{r.Clone(), number}
		c.Name = r.AppendName(nil)
		if c.Kind == itrace.Memory && c.Size == 0 {
			// Where no size is told the data have one, or it is that of a usual access.
			if c.Size = uint32(len(c.Digits)+1) / 2; c.Size == 0 {
				c.Size = 8
			}
		}
		s.records = append(s.records, c)
	}
	return asked, s
}

// generated is a trace of so many instructions of a small program.
func generated(t testing.TB, o generate.Options) (*query.Trace, *story) {
	t.Helper()
	var text bytes.Buffer
	if _, err := generate.Write(&text, o); err != nil {
		t.Fatal(err)
	}
	return opened(t, text.Bytes(), matcher.Dialect, execution.Options{})
}

// told is a record with the number of the instruction that it belongs to.
type told struct {
	itrace.Record
	number int64
}

// story answers questions by walking through all records.
type story struct {
	records      []told
	bigEndian    bool
	instructions int64
}

// asked restricts a question.
type asked struct {
	from, to    int64
	cpu         int32 // -1 for all
	first, last int64
}

// picked leaves the lines that the question wants.
func (q asked) picked(lines []string) []string {
	switch {
	case q.first > 0:
		return lines[:min(int64(len(lines)), q.first)]
	case q.last > 0:
		return lines[max(0, int64(len(lines))-q.last):]
	}
	return lines
}

// memory is what records have told of it.
type memory map[uint64]string

// learn takes what a record tells.
func (s *story) learn(m memory, r *told) {
	switch {
	case r.Kind == itrace.Instruction:
		s.bytes(m, r.Addr, len(r.Digits)/2, r.Digits)
	case r.Kind == itrace.Memory:
		s.bytes(m, r.Addr, int(r.Size), r.Digits)
		for i := range uint64(r.Size) {
			if len(r.Digits) == 0 && r.Write {
				m[r.Addr+i] = "??"
			}
		}
	}
}

// value is the digits of an access to so many bytes.
func value(digits []byte, size int) string {
	if len(digits) == 0 {
		return ""
	}
	return strings.Repeat("0", max(0, 2*size-len(digits))) + strings.ToLower(string(digits))
}

// bytes puts a number of so many bytes into memory.
func (s *story) bytes(m memory, addr uint64, size int, digits []byte) {
	if len(digits) == 0 {
		return
	}
	padded := value(digits, size)
	padded = padded[len(padded)-2*size:] // opcodes without their leading zeros may have an odd number of digits
	for i := range size {
		at := i
		if !s.bigEndian {
			at = size - 1 - i
		}
		m[addr+uint64(at)] = padded[2*i : 2*i+2]
	}
}

// held is what memory holds, as a number; "" if nothing of it is known.
func (s *story) held(m memory, addr uint64, size int) string {
	number, known := "", false
	for i := range size {
		at := i
		if !s.bigEndian {
			at = size - 1 - i
		}
		b, ok := m[addr+uint64(at)]
		if !ok {
			b = "??"
		}
		known = known || ok && b != "??"
		number += b
	}
	if !known {
		return ""
	}
	return number
}

func overlaps(r *told, addr, size uint64) bool {
	return r.Kind == itrace.Memory && r.Addr < addr+size && addr < r.Addr+uint64(r.Size)
}

// accesses are those of memory, or of a register if there is a name.
func (s *story) accesses(q asked, name string, addr, size uint64, write bool) []string {
	var lines []string
	m, registers := memory{}, map[string]string{}
	for i := range s.records {
		r := &s.records[i]
		key := fmt.Sprint(r.CPU, strings.ToLower(string(r.Name)))
		meets := name == "" && overlaps(r, addr, size) && r.Write == write ||
			name != "" && write && r.Kind == itrace.Register && strings.EqualFold(string(r.Name), name)
		if meets && r.number >= q.from && r.number < q.to && (q.cpu < 0 || r.CPU == q.cpu) {
			before, held := registers[key], strings.ToLower(string(r.Digits))
			if name == "" {
				before, held = s.held(m, r.Addr, int(r.Size)), value(r.Digits, int(r.Size))
			}
			lines = append(lines, fmt.Sprint(r.number, r.Line, " ", before, ">", held))
		}
		s.learn(m, r)
		if r.Kind == itrace.Register {
			registers[key] = strings.ToLower(string(r.Digits))
		}
	}
	return q.picked(lines)
}

// values are those of memory, or of a register if there is a name.
func (s *story) values(q asked, name string, addr, size uint64, changes bool) []string {
	var lines []string
	m, registers := memory{}, map[string]string{}
	begun := false
	begin := func() {
		if begun {
			return
		}
		begun = true
		if held := s.held(m, addr, int(size)); name == "" && held != "" {
			lines = append(lines, fmt.Sprint("first ", held))
		}
		for _, cpu := range []int32{0, 1} {
			if v := registers[fmt.Sprint(cpu)]; name != "" && v != "" && q.from > 0 && (q.cpu < 0 || q.cpu == cpu) {
				lines = append(lines, fmt.Sprint("first ", v))
			}
		}
	}
	for i := range s.records {
		r := &s.records[i]
		inside := r.number >= q.from && r.number < q.to
		if inside || r.number >= q.to {
			begin()
		}
		mine := inside && (q.cpu < 0 || r.CPU == q.cpu)
		switch {
		case name != "" && r.Kind == itrace.Register && strings.EqualFold(string(r.Name), name):
			key, value := fmt.Sprint(r.CPU), strings.ToLower(string(r.Digits))
			if mine && (!changes || registers[key] != value) {
				lines = append(lines, fmt.Sprint(r.Line, " ", value))
			}
			registers[key] = value
		case name == "":
			before := s.held(m, addr, int(size))
			s.learn(m, r)
			now := s.held(m, addr, int(size))
			if mine && overlaps(r, addr, size) && (now != before || !changes && r.Write) {
				lines = append(lines, fmt.Sprint(r.Line, " ", now))
			}
		}
	}
	begin()
	return q.picked(lines)
}

// someAsked is a question about any part of a trace, long or short.
func (s *story) someAsked(random *rand.Rand) asked {
	q := asked{from: -1, to: s.instructions, cpu: -1}
	switch random.IntN(3) {
	case 0:
		q.from = random.Int64N(s.instructions)
		q.to = q.from + random.Int64N(s.instructions-q.from+1)
	case 1:
		q.from = random.Int64N(s.instructions)
		q.to = min(q.from+random.Int64N(40), s.instructions)
	}
	switch random.IntN(4) {
	case 0:
		q.first = 1 + random.Int64N(4)
	case 1:
		q.last = 1 + random.Int64N(4)
	}
	if random.IntN(3) == 0 {
		q.cpu = int32(random.IntN(2))
	}
	return q
}

// restrict asks a question of the trace.
func restrict(t *testing.T, trace *query.Trace, q asked) query.Pick {
	t.Helper()
	trace.From, trace.To, trace.CPU = q.from, q.to, nil
	if q.cpu >= 0 {
		if err := trace.OnCPU(q.cpu); err != nil {
			t.Fatal(err)
		}
	}
	return query.Pick{First: q.first, Last: q.last}
}

// compare fails for the first answer that differs.
func compare(t *testing.T, what string, q asked, got, want []string) {
	t.Helper()
	if slices.Equal(got, want) {
		return
	}
	i := 0
	for i < len(got) && i < len(want) && got[i] == want[i] {
		i++
	}
	t.Fatalf("%s, %+v: %d answers of %d; the first that differs is the one behind %d\ngot  %.120q\nwant %.120q", what, q, len(got), len(want), i,
		got[i:min(i+3, len(got))], want[i:min(i+3, len(want))])
}
