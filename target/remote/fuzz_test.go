package remote_test

import (
	"bytes"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"tracewell/arch"
	"tracewell/internal/test/fakestub"
	"tracewell/target"
	"tracewell/target/remote"
	"tracewell/tdesc"
	"tracewell/trace"
	"tracewell/tracepoint"
)

// speaker is a connection on which the same comes whatever is sent.
type speaker struct {
	mu   sync.Mutex
	says *bytes.Reader
}

func (p *speaker) Read(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.says.Read(b)
}
func (*speaker) Write(b []byte) (int, error) { return len(b), nil }
func (*speaker) Close() error                { return nil }

// recorder is a connection that keeps what has come.
type recorder struct {
	net.Conn
	came bytes.Buffer
}

func (r *recorder) Read(b []byte) (int, error) {
	n, err := r.Conn.Read(b)
	r.came.Write(b[:n])
	return n, err
}

// converse has a short conversation with a stub that may be none, up to the end of a trace run.
func converse(t testing.TB, conn io.ReadWriteCloser, d *tdesc.Target, at, end arch.Addr) {
	r, err := remote.Open(conn, remote.Options{Description: d, Patience: 10 * time.Second})
	if err != nil {
		return
	}
	defer r.Close()
	id := target.ThreadID{PID: 1, TID: 1}
	if list := r.Threads(); len(list) > 0 {
		id = list[0]
	}
	block, b := make([]byte, r.BlockSize()), make([]byte, 64)
	_ = r.ReadRegisters(id, block)
	_, _ = r.ReadMemory(id, fakestub.RAMAt, b)
	_, _ = r.Thread(id)
	_, _ = r.Pass(id, []byte("qRcmd,68656c70"), nil)
	layout, err := tracepoint.LayoutOf(r)
	if err != nil {
		return
	}
	layout.RegisterBlock = r.BlockSize()
	e := tracepoint.New(layout)
	r.Tracer().SetHandler(e.NewHandler())
	actions := []trace.Action{{Kind: trace.CollectRegisters, Mask: []byte{0xff}}, {Kind: trace.CollectMemory, Base: sp, Length: 16}}
	_ = e.Define(trace.Tracepoint{Number: 1, Addr: at, Enabled: true, Actions: actions, Condition: whenOdd, Step: 2, StepActions: actions}, false)
	_ = e.Start(r.Tracer(), id.PID)
	_ = r.InsertBreakpoint(id, target.Breakpoint{Addr: end, Length: 2})
	for range 2 {
		if r.Resume([]target.Action{{Thread: target.ThreadID{PID: target.All, TID: target.All}, Anew: true}}) != nil {
			break
		}
		select {
		case <-r.Events():
		case <-time.After(20 * time.Second):
			t.Fatal("no event")
		}
	}
	_ = r.WriteMemory(id, fakestub.RAMAt+0x8000, b)
	_ = e.Stop(trace.ReasonStop, "")
	for f := range e.Frames() {
		if len(f.Registers()) != 0 && len(f.Registers()) != r.BlockSize() {
			t.Fatalf("a frame with %d bytes of registers, not %d", len(f.Registers()), r.BlockSize())
		}
	}
	r.Left()
	r.Ended()
}

// FuzzReplies has a stub say anything. Nothing panics or hangs, and frames are well made.
func FuzzReplies(f *testing.F) {
	var d *tdesc.Target
	var at, end arch.Addr
	for _, quirks := range fakestub.Presets {
		stub := fakestub.New(fakestub.Config{Quirks: quirks, InRAM: true, Passes: 4})
		at, end = arch.Addr(stub.Symbol("body")), arch.Addr(stub.Symbol("end"))
		var err error
		if d, _, err = tdesc.Parse(stub.Description(), nil); err != nil {
			f.Fatal(err)
		}
		given := d
		if !quirks.NoFeatures && !quirks.NoSupported {
			given = nil
		}
		conn := &recorder{Conn: stub.Pipe()}
		converse(f, conn, given, at, end)
		stub.Close()
		f.Add(conn.came.Bytes(), given != nil)
	}
	f.Fuzz(func(t *testing.T, says []byte, given bool) {
		late := time.AfterFunc(30*time.Second, func() { panic("the conversation does not end") })
		defer late.Stop()
		description := d
		if !given {
			description = nil
		}
		converse(t, &speaker{says: bytes.NewReader(says)}, description, at, end)
	})
}
