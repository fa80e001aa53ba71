package record

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"
	"time"

	"tracewell/arch"
	"tracewell/record/output"
	"tracewell/target"
	"tracewell/tfile"
	"tracewell/trace"
	"tracewell/trace/compiled"
	"tracewell/tracepoint"
)

// bulk is a tracer whose Collector takes everything and keeps how the run began, for a test to deposit frames.
type bulk struct {
	target.Tracer
	run target.Run
}

func (c *bulk) Collector() target.Collector                         { return c }
func (c *bulk) Begin(run target.Run)                                { c.run = run }
func (c *bulk) Offload(int, *compiled.Tracepoint) error             { return nil }
func (c *bulk) Recall(int, arch.Addr)                               {}
func (c *bulk) Apply() ([]target.Refusal, error)                    { return nil, nil }
func (c *bulk) Explain(int, arch.Addr) string                       { return "" }
func (c *bulk) Tallies(dst []target.Tally) []target.Tally           { return dst }
func (c *bulk) Variables() target.VariableStore                     { return c }
func (c *bulk) Variable(trace.VariableNumber) (value int64, _ bool) { return 0, false }
func (c *bulk) SetVariable(trace.VariableNumber, int64)             {}
func (c *bulk) AppendVariables(dst []target.VariableValue) []target.VariableValue {
	return dst
}

// BenchmarkDepositedToFile is what everything behind a Collector adds to a hit: 17 registers and 16 bytes, in calls of 512 frames,
// until they are in a file in memory. Besides the time it reports how often writing the same bytes with nothing around it fits
// into that; the program's own processor is at neither.
func BenchmarkDepositedToFile(b *testing.B) {
	const registers, batch = 17 * 8, 512
	order := binary.LittleEndian
	shm, err := os.MkdirTemp("/dev/shm", "tracewell-bench")
	if err != nil {
		b.Skip(err)
	}
	defer os.RemoveAll(shm)
	out := tfile.Builder{Order: order}
	out.Begin(nil, 1)
	out.Registers(registers)
	out.Memory(0x100, 16)
	frame := out.Finish()
	var frames []byte
	for range batch {
		frames = append(frames, frame...)
	}
	deposits := make([]target.Deposit, batch)
	for i := range deposits {
		deposits[i] = target.Deposit{Key: trace.Key{Number: 1, Addr: 0x10}, Frames: frames[i*len(frame) : (i+1)*len(frame)], Hits: 1}
	}
	b.SetBytes(int64(len(frame)))
	b.ReportAllocs()

	s := newStream(order, registers)
	e := tracepoint.New(tracepoint.Layout{Order: order, RegisterBlock: registers, Sink: s, SinkOnly: true})
	must(b, e.SetBufferSize(maxFrame))
	must(b, e.Define(trace.Tracepoint{Number: 1, Addr: 0x10, Enabled: true}, false))
	c := new(bulk)
	must(b, e.Start(c, 1))
	s.file, err = output.Create(filepath.Join(shm, "t.tfile"), tfile.Header{
		Order: order, RegisterSize: registers, Status: &trace.Status{}, Tracepoints: e.Tracepoints(),
	})
	must(b, err)
	go s.run()
	b.ResetTimer()
	for i := 0; i < b.N; i += batch {
		if c.run.Deposit(deposits) != target.Continue {
			b.Fatal(e.Status())
		}
	}
	must(b, s.close())
	b.StopTimer()
	took := b.Elapsed()
	must(b, os.Remove(filepath.Join(shm, "t.tfile")))

	bare, err := os.Create(filepath.Join(shm, "bare"))
	must(b, err)
	defer bare.Close()
	began := time.Now()
	for i := 0; i < b.N; i += batch {
		_, err := bare.Write(frames)
		must(b, err)
	}
	b.ReportMetric(float64(took)/float64(time.Since(began)), "x-bare")
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
