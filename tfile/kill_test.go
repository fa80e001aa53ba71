package tfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"tracewell/trace"
)

// appendTo names, in the environment, the file to which this program is to append frames until it is killed.
const appendTo = "TFILE_TEST_APPEND_TO"

func TestMain(m *testing.M) {
	if name := os.Getenv(appendTo); name != "" {
		fmt.Fprintln(os.Stderr, appendForever(name))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// batchSize is how many frames the child appends at once from frame i on.
func batchSize(i int) int { return 1 + i*i%3 }

// appendForever appends numbered frames, and writes a byte to the standard output when the definitions are there and when
// each batch is.
func appendForever(name string) error {
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	h := appendHeader(binary.LittleEndian)
	a, err := NewAppender(file, h)
	if err != nil {
		return err
	}
	var batch []byte
	for i := 0; i < 1_000_000; {
		if _, err := os.Stdout.Write([]byte{'.'}); err != nil {
			return err
		}
		batch = batch[:0]
		for end := i + batchSize(i); i < end; i++ {
			batch = numbered(batch, h.Order, i)
		}
		if err := a.Append(batch); err != nil {
			return err
		}
		if i%100 == 0 {
			if err := a.Update(trace.Status{Reason: trace.ReasonUnknown, Notes: fmt.Sprint(i)}, h.Tracepoints); err != nil {
				return err
			}
		}
	}
	return errors.New("not killed in time")
}

// kills is how often the writer is killed; make soak has more.
var kills = flag.Int("kills", 200, "kill a program that appends to a trace file so often")

// TestKilledAppender kills a program that appends frames at random moments, from before it has created the file to when it has
// appended hundreds of frames, and looks at what it leaves.
func TestKilledAppender(t *testing.T) {
	dir := t.TempDir()
	var mu sync.Mutex
	var frames, unacknowledged int
	var samples [][]byte
	var group sync.WaitGroup
	for worker := range 2 {
		group.Go(func() {
			random := rand.New(rand.NewPCG(uint64(worker), uint64(time.Now().UnixNano())))
			name := filepath.Join(dir, fmt.Sprint(worker))
			for range *kills / 2 {
				data, promised := killedAppender(t, random, name)
				n := leftBehind(t, data, promised)
				mu.Lock()
				frames += n
				unacknowledged += n - promised
				if n > 0 && len(samples) < 5 {
					samples = append(samples, data)
				}
				mu.Unlock()
				if t.Failed() {
					return
				}
			}
		})
	}
	group.Wait()
	t.Logf("%d kills left %d frames, %d of which were not acknowledged", *kills, frames, unacknowledged)
	if len(samples) < 5 || unacknowledged == 0 {
		t.Error("that is not what random moments would leave")
	}
	for _, data := range samples {
		f, err := OpenBytes(data)
		if err != nil {
			t.Fatal(err)
		}
		gdbShows(t, data, f.NumFrames()-1)
		goOn(t, f)
	}
}

// goOn adds frames to a file that was left behind.
func goOn(t *testing.T, f *File) {
	d := disk{data: f.source.mem}
	a, err := OpenAppender(f, &d)
	if err != nil {
		t.Fatal(err)
	}
	want := f.NumFrames() + 10
	for i := f.NumFrames(); i < want; i++ {
		if err := a.Append(numbered(nil, binary.LittleEndian, i)); err != nil {
			t.Fatal(err)
		}
	}
	again, err := OpenBytes(d.data[:a.End()])
	if err != nil || len(again.Findings()) > 0 {
		t.Fatal(again.Findings(), err)
	}
	holdsNumbered(t, again, want)
}

// killedAppender starts the program, kills it, and returns the file, if the definitions were acknowledged, and how many frames
// were.
func killedAppender(t *testing.T, random *rand.Rand, name string) (data []byte, promised int) {
	self, err := os.Executable()
	if err != nil {
		t.Error(err)
		return nil, 0
	}
	os.Remove(name)
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), appendTo+"="+name, "GOMAXPROCS=1", "GOGC=off")
	pipe, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Error(err)
		return nil, 0
	}
	wait := time.Duration(random.IntN(int(8 * time.Millisecond)))
	acks := 0
	if random.IntN(10) > 0 {
		wait = time.Duration(random.IntN(int(200 * time.Microsecond)))
		acks, _ = io.ReadFull(pipe, make([]byte, 1+random.IntN(40)))
	}
	for start := time.Now(); time.Since(start) < wait; { // a sleep is too coarse
	}
	cmd.Process.Kill()
	rest, _ := io.ReadAll(pipe)
	cmd.Wait()
	acks += len(rest)
	data, err = os.ReadFile(name)
	if err != nil && acks > 0 {
		t.Errorf("after %d acknowledgements: %v", acks, err)
	}
	if acks == 0 {
		return nil, 0 // what is there of the definitions, if anything, nobody was promised
	}
	for range acks - 1 {
		promised += batchSize(promised)
	}
	return data, promised
}

// leftBehind fails unless a file opens and holds what was acknowledged, and returns the number of frames in it.
func leftBehind(t *testing.T, data []byte, promised int) int {
	if data == nil {
		return 0
	}
	f, err := OpenBytes(data)
	if err != nil {
		t.Errorf("%d frames were acknowledged: %v", promised, err)
		return 0
	}
	var want []byte
	for i := range f.NumFrames() {
		frame, err := f.Frame(i)
		want = numbered(want[:0], binary.LittleEndian, i)
		if err != nil || !bytes.Equal(frame.Bytes(), want) {
			t.Errorf("frame %d of %d is not what was appended, %v", i, f.NumFrames(), err)
		}
	}
	if n := int64(f.NumFrames()); n < int64(promised) || f.Header().Status.Frames > n || f.Header().Status.Frames < int64(promised) {
		t.Errorf("%d frames, %d acknowledged, the status says %d", n, promised, f.Header().Status.Frames)
	}
	return f.NumFrames()
}
