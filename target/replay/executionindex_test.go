package replay_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tracewell/internal/test/testtool"
	"tracewell/itrace/execution"
	"tracewell/itrace/generate"
	"tracewell/itrace/matcher"
	"tracewell/target/replay"
)

// kept opens a trace by its path, asks it something, and returns answer and notes.
func kept(t *testing.T, path string, o replay.ExecutionOptions) (answer string, notes []string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	status, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	source := execution.Source{Name: path, Content: f, Size: status.Size(), Path: path, Status: status}
	e, notes, err := replay.NewExecution(source, matcher.Dialect, o)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	target, err := e.Target()
	if err != nil {
		t.Fatal(err)
	}
	target.Goto(100_000)
	for _, c := range target.Commands() {
		if c.Name == "writers" {
			if answer, err = c.Do(target.Threads()[0], "0x800,4"); err != nil {
				t.Fatal(err)
			}
		}
	}
	return answer, notes
}

// noted fails unless a note says something, or with nothing to say if any note but that on the architecture does.
func noted(t *testing.T, what string, notes []string, says string) {
	t.Helper()
	all := strings.Join(notes, "\n")
	if says == "" && strings.Contains(all, "index") || !strings.Contains(all, says) {
		t.Errorf("%s: want a note of %q, got %q", what, says, notes)
	}
}

// TestIndexKept keeps the index of a trace beside it and spoils one or the other: that is said, the index is built anew, and the answers
// are those of the trace as it is.
func TestIndexKept(t *testing.T) {
	folder := t.TempDir()
	cache := filepath.Join(folder, "cache")
	t.Setenv("XDG_CACHE_HOME", cache)
	path, other := filepath.Join(folder, "run.log"), filepath.Join(folder, "other.log")
	const instructions = 220_000
	for name, o := range map[string]generate.Options{path: {}, other: {TimeBase: 5}} {
		o.Instructions = instructions
		writeFile(t, name, func(w io.Writer) error { _, err := generate.Write(w, o); return err })
	}
	index := path + execution.IndexSuffix
	want, notes := kept(t, path, replay.ExecutionOptions{Options: execution.Options{Keep: execution.InMemory}})
	noted(t, "in memory", notes, "")
	if _, err := os.Stat(index); err == nil {
		t.Error("there is a file of an index that is kept in memory")
	}
	wantNoIndexWhenInterrupted(t, path)
	_, notes = kept(t, path, replay.ExecutionOptions{})
	noted(t, "the first time", notes, "")
	whole, err := os.ReadFile(index)
	if err != nil {
		t.Fatal(err)
	}
	otherAnswer, _ := kept(t, other, replay.ExecutionOptions{})
	foreign, err := os.ReadFile(other + execution.IndexSuffix)
	if err != nil {
		t.Fatal(err)
	}
	if otherAnswer == want {
		t.Fatal("the two traces cannot be told apart")
	}
	for what, spoiled := range map[string][]byte{
		"of another trace": foreign, "cut off": whole[:len(whole)/2], "cut off at the end": whole[:len(whole)-1], "empty": {},
		"no index": bytes.Repeat([]byte("x"), 100), "changed in the middle": changed(whole, len(whole)/2), "changed in front": changed(whole, 20),
	} {
		if err := os.WriteFile(index, spoiled, 0o666); err != nil {
			t.Fatal(err)
		}
		got, notes := kept(t, path, replay.ExecutionOptions{})
		if got != want {
			t.Errorf("%s: got %s", what, got)
		}
		noted(t, what, notes, "it is built anew")
		if again, err := os.ReadFile(index); err != nil || !bytes.Equal(again, whole) {
			t.Errorf("%s: the index has not become what it was: %v", what, err)
		}
		_, notes = kept(t, path, replay.ExecutionOptions{})
		noted(t, what+", the second time", notes, "")
	}
	if err := os.Chtimes(path, time.Now(), time.Unix(1e9, 0)); err != nil {
		t.Fatal(err)
	}
	_, notes = kept(t, path, replay.ExecutionOptions{})
	noted(t, "a trace of another time", notes, "it is of another trace, or of this one as it was before it changed")
	replaced, err := os.ReadFile(other)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, replaced, 0o666); err != nil {
		t.Fatal(err)
	}
	if got, _ := kept(t, path, replay.ExecutionOptions{}); got != otherAnswer {
		t.Errorf("a trace that has become another: got %s", got)
	}
}

// wantNoIndexWhenInterrupted ends the building of an index: nothing is left of it.
func wantNoIndexWhenInterrupted(t *testing.T, path string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	status, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	source := execution.Source{Name: path, Content: f, Size: status.Size(), Path: path, Status: status}
	o := replay.ExecutionOptions{Options: execution.Options{Context: ctx, Progress: func(done int64) {
		if done > status.Size()/2 {
			cancel()
		}
	}}}
	if _, _, err := replay.NewExecution(source, matcher.Dialect, o); !errors.Is(err, context.Canceled) {
		t.Errorf("an interrupted index: %v", err)
	}
	files, err := filepath.Glob(path + ".*")
	hidden, more := filepath.Glob(filepath.Join(filepath.Dir(path), ".*"))
	if len(files)+len(hidden) > 0 || err != nil || more != nil {
		t.Errorf("there are %v, %v", files, hidden)
	}
}

func changed(b []byte, at int) []byte {
	b = bytes.Clone(b)
	b[at] ^= 4
	return b
}

// TestIndexElsewhere opens a trace beside which nothing can be written, and with no cache either. What stands in the place of the
// index is first a folder, then a FIFO that nobody writes to.
func TestIndexElsewhere(t *testing.T) {
	folder := t.TempDir()
	cache := filepath.Join(folder, "cache")
	t.Setenv("XDG_CACHE_HOME", cache)
	path := filepath.Join(folder, "run.log")
	writeFile(t, path, func(w io.Writer) error {
		_, err := generate.Write(w, generate.Options{Instructions: 220_000})
		return err
	})
	// A folder of that name stands for a place where nobody may write, which for the superuser there is not.
	if err := os.MkdirAll(filepath.Join(path+execution.IndexSuffix, "full"), 0o777); err != nil {
		t.Fatal(err)
	}
	want, notes := kept(t, path, replay.ExecutionOptions{})
	noted(t, "in the cache", notes, "the index is kept in "+filepath.Join(cache, "tracewell", "run.log-"))
	files, err := filepath.Glob(filepath.Join(cache, "tracewell", "*"+execution.IndexSuffix))
	if err != nil || len(files) != 1 {
		t.Errorf("in the cache: %v, %v", files, err)
	}
	t.Setenv("XDG_CACHE_HOME", filepath.Join(path, "none"))
	if err := os.RemoveAll(path + execution.IndexSuffix); err != nil {
		t.Fatal(err)
	}
	if said, err := testtool.Command(t, "mkfifo", path+execution.IndexSuffix).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	got, notes := kept(t, path, replay.ExecutionOptions{})
	noted(t, "a FIFO", notes, "it is a FIFO, not a regular file; it is built anew")
	noted(t, "nowhere", notes, "is kept in memory")
	if got != want {
		t.Errorf("got %s", got)
	}
}

// TestTraceChanges changes a trace while it is served: what was read before is told, and nothing else.
func TestTraceChanges(t *testing.T) {
	var text bytes.Buffer
	if _, err := generate.Write(&text, generate.Options{Instructions: 100_000}); err != nil {
		t.Fatal(err)
	}
	content := text.Bytes()
	e := openText(t, string(content), replay.ExecutionOptions{}, func(s *execution.Source) { s.Content = bytes.NewReader(content) })
	target, err := e.Target()
	if err != nil {
		t.Fatal(err)
	}
	block := make([]byte, 1<<10)
	if err := target.ReadRegisters(target.Threads()[0], block); err != nil {
		t.Fatal(err)
	}
	for i := range content[len(content)/2:] {
		content[len(content)/2+i] ^= 1
	}
	target.Goto(90_000)
	err = target.ReadRegisters(target.Threads()[0], block)
	if err == nil || !strings.Contains(err.Error(), "as it was before it changed") {
		t.Errorf("registers of a trace that has changed: %v", err)
	}
	target.Goto(10)
	if n, err := target.ReadMemory(target.Threads()[0], 0x1000, block[:4]); err == nil {
		t.Errorf("%d bytes of memory afterwards", n)
	}
	if text := fmt.Sprint(err); !strings.HasPrefix(text, "trace: ") {
		t.Errorf("%s does not say of what", text)
	}
}
