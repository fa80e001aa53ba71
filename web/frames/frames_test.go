package frames

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tracewell/internal/jsontext"
	"tracewell/symbol"
	"tracewell/tfile"
	"tracewell/trace"
	"tracewell/view"
	"tracewell/view/survey"
	"tracewell/view/wire"
	"tracewell/web"
	"tracewell/web/sources"
)

var update = flag.Bool("update", false, "write the golden files anew")

const (
	traceFile = "../../tfile/testdata/queue-basic.tf"
	program   = "../../tfile/testdata/queue"
)

// open opens a trace file with its program, "" for none.
func open(t testing.TB, path, exec string) *view.View {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	file, err := tfile.Open(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	var names *symbol.Program
	if exec != "" {
		if names, err = symbol.Open(exec, symbol.Options{}); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { names.Close() })
	}
	v, warnings := view.New(file, names)
	if len(warnings) > 0 {
		t.Fatal(warnings)
	}
	return v
}

func newTrace(t testing.TB, v *view.View) *Trace {
	t.Helper()
	files, err := sources.New("", nil)
	if err != nil {
		t.Fatal(err)
	}
	subject, err := New(t.Context(), "queue-basic.tf", v, nil, files)
	if err != nil {
		t.Fatal(err)
	}
	return subject
}

// ask asks as the page does.
func ask(t testing.TB, subject *Trace, question string) (any, error) {
	t.Helper()
	name, query, _ := strings.Cut(question, "?")
	args, err := url.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	return subject.Answer(t.Context(), name, args)
}

// TestGolden compares all kinds of answers with those that were looked at.
func TestGolden(t *testing.T) {
	subject := newTrace(t, open(t, traceFile, program))
	var got bytes.Buffer
	for _, question := range []string{
		"trace",
		"search", "search?where=n+%3E+3", "search?tp=1&from=10&to=20",
		"rows?block=0&where=n+%3D%3D+7", "rows?block=1", "rows?block=0&from=3&to=5&column=n&column=rdi",
		"place?frame=20", "place?frame=20&where=n+%3E+3",
		"frame?frame=0", "frame?frame=7",
		"timeline?by=thread&bins=8", "timeline?by=tracepoint&bins=8", "timeline?by=tracepoint&bins=4&left=10&right=20&where=n+%3E+3",
		"plot?y=n&kind=line&bins=4", "plot?y=n&kind=points&bins=8&left=0&right=8&from=0&to=8", "plot?y=n&kind=histogram&bins=8",
		"plot?y=n&x=%24rdi&kind=points&bins=8&from=0&to=4", "plot?y=n&kind=heat&bins=2",
		"source?file=0", "stacks",
		"rows?block=0&where=nonsense", "rows?block=-1", "frame?frame=85", "frame", "plot?y=&kind=line", "plot?y=n&kind=cake",
		"timeline?bins=0", "timeline?bins=8&left=4&right=4", "source?file=9", "rows?tp=x", "rows?from=x",
	} {
		// What is answered of a search that goes on depends on how far it is.
		if _, query, _ := strings.Cut(question, "?"); query != "" {
			if args, err := url.ParseQuery(query); err == nil {
				subject.now.Load().chosen(t.Context(), args)
			}
		}
		answer, err := ask(t, subject, question)
		if err != nil {
			answer = wire.PageError{Error: err.Error()}
		}
		encoded, err := jsontext.Append(nil, answer)
		if err != nil {
			t.Errorf("%s: %v", question, err)
		}
		fmt.Fprintf(&got, "%s\n%s\n\n", question, encoded)
	}
	path := filepath.Join("testdata", "answers.golden")
	if *update {
		if err := os.WriteFile(path, got.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got.String(), "\n")); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// TestWaitFor: who waits for more frames than have been found gets these after a while, and the error only of its own context.
func TestWaitFor(t *testing.T) {
	c := &selection{change: make(chan struct{})}
	c.found([]int32{3, 7})
	numbers, search, err := c.waitFor(t.Context(), 3, time.Millisecond)
	if len(numbers) != 2 || search.Total != 2 || search.Done || err != nil {
		t.Errorf("%d of %+v, %v", numbers, search, err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := c.waitFor(ended, 3, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
	c.finish(nil)
	if numbers, search, err := c.waitFor(t.Context(), 3, time.Hour); len(numbers) != 2 || !search.Done || err != nil {
		t.Errorf("%d of %+v, %v", numbers, search, err)
	}
}

// TestFrameIsThatOfShow: a frame in full contains what the command line prints of it.
func TestFrameIsThatOfShow(t *testing.T) {
	v := open(t, traceFile, program)
	subject := newTrace(t, v)
	for i := range v.Content.NumFrames() {
		answer, err := ask(t, subject, fmt.Sprintf("frame?frame=%d", i))
		if err != nil {
			t.Fatal(err)
		}
		frame, err := v.Frame(i, nil)
		if err != nil {
			t.Fatal(err)
		}
		var printed, got map[string]any
		if err := json.Unmarshal(wire.NewJSONFrames(nil, v).Append(nil, frame), &printed); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(answer.(wire.PageFrame).Frame, &got); err != nil {
			t.Fatal(err)
		}
		delete(got, "since")
		delete(got, "changed")
		if diff := cmp.Diff(printed, got); diff != "" {
			t.Errorf("frame %d: (-show +page)\n%s", i, diff)
		}
	}
}

// TestSelectionIsThatOfShow: filters choose the frames that survey.Choice does for show.
func TestSelectionIsThatOfShow(t *testing.T) {
	v := open(t, traceFile, program)
	subject := newTrace(t, v)
	for _, where := range []string{"n > 3", "n == 7 || $rdi == 0", "0", "1"} {
		condition, err := v.Condition(where)
		if err != nil {
			t.Fatal(err)
		}
		reader := v.NewReader()
		choice := survey.Choice{End: v.Content.NumFrames(), Where: func(f view.Frame) bool {
			reader.Set(f)
			return condition.Match(reader)
		}}
		want := []int32{}
		err = choice.Each(t.Context(), v, func(f view.Frame) error {
			want = append(want, int32(f.Number))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		got, err := subject.now.Load().chosen(t.Context(), url.Values{"where": {where}})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, append([]int32{}, got...)); diff != "" {
			t.Errorf("%s: (-show +page)\n%s", where, diff)
		}
	}
}

// many is a trace of any number of frames: those of another again and again.
type many struct {
	tfile.Content
	frames int
}

func (m *many) NumFrames() int { return m.frames }

func (m *many) Tracepoint(i int) trace.Number { return m.Content.Tracepoint(i % m.Content.NumFrames()) }

func (m *many) ReadFrame(i int, buf []byte) (tfile.Frame, error) {
	return m.Content.ReadFrame(i%m.Content.NumFrames(), buf)
}

// TestSearchIsEndedByAnother: a search that nobody waits for ends when another begins, and the rows that have been found are
// there before it is done.
func TestSearchIsEndedByAnother(t *testing.T) {
	basic := open(t, traceFile, program)
	v, _ := view.New(&many{basic.Content, 300_000}, nil)
	s := newTrace(t, v).now.Load()
	slow, err := s.choose(url.Values{"where": {"$rdi != 0x123456789"}})
	if err != nil {
		t.Fatal(err)
	}
	numbers, search, err := slow.wait(t.Context(), 10)
	if err != nil || len(numbers) < 10 || search.Total != len(numbers) {
		t.Fatalf("%d frames found, %+v, %v", len(numbers), search, err)
	}
	slow.release()
	if _, err := s.chosen(t.Context(), url.Values{"where": {"$rdi == 1"}}); err != nil {
		t.Fatal(err)
	}
	if _, search, err := slow.wait(t.Context(), everyFrame); !errors.Is(err, context.Canceled) {
		t.Errorf("the search went on: %+v, %v", search, err)
	}
	// The same filter again is searched anew.
	again, err := s.chosen(t.Context(), url.Values{"where": {"$rdi != 0x123456789"}})
	if err != nil || len(again) == 0 {
		t.Errorf("%d frames, %v", len(again), err)
	}
}

// TestKeptSelections: what is kept of filters is bounded.
func TestKeptSelections(t *testing.T) {
	s := newTrace(t, open(t, traceFile, program)).now.Load()
	for i := range 3 * keptSelections {
		if _, err := s.chosen(t.Context(), url.Values{"where": {fmt.Sprintf("n == %d", i)}}); err != nil {
			t.Fatal(err)
		}
		if _, err := s.column(t.Context(), fmt.Sprintf("n + %d", i)); err != nil {
			t.Fatal(err)
		}
	}
	if len(s.selections.last) > keptSelections || len(s.values.last) > keptColumns {
		t.Errorf("%d selections and %d columns are kept", len(s.selections.last), len(s.values.last))
	}
}

// TestStatic: each question of a page of one file has an answer.
func TestStatic(t *testing.T) {
	subject := newTrace(t, open(t, traceFile, program))
	questions := subject.Static()
	for _, q := range questions {
		if _, err := subject.Answer(t.Context(), q.Name, q.Args); err != nil {
			t.Errorf("%s: %v", q.Key(), err)
		}
	}
	if len(questions) < 90 {
		t.Errorf("%d questions", len(questions))
	}
	if _, err := subject.Answer(t.Context(), "nothing", nil); !errors.Is(err, web.ErrNoQuestion) {
		t.Errorf("an unknown question: %v", err)
	}
}

// TestFollow: a file that grows is shown as it is, and says when it ends.
func TestFollow(t *testing.T) {
	basic := open(t, traceFile, program)
	growing := &many{basic.Content, 10}
	files, err := sources.New("", nil)
	if err != nil {
		t.Fatal(err)
	}
	opened := 0
	g, err := NewGrowing(t.Context(), "growing", func() (*view.View, error) {
		if opened++; opened > 1 {
			growing = &many{basic.Content, growing.frames + 10}
		}
		v, _ := view.New(growing, nil)
		return v, nil
	}, files)
	if err != nil {
		t.Fatal(err)
	}
	if n, ended := g.Changed(t.Context(), 0); n != 1 || ended {
		t.Errorf("at first it is at %d, ended %v", n, ended)
	}
	done := make(chan struct{})
	finished := make(chan struct{})
	go func() {
		g.Follow(t.Context(), done)
		close(finished)
	}()
	if n, ended := g.Changed(t.Context(), 1); n < 2 || ended {
		t.Errorf("then at %d, ended %v", n, ended)
	}
	close(done)
	<-finished
	answer, err := g.Answer(t.Context(), "trace", nil)
	if err != nil {
		t.Fatal(err)
	}
	if n, ended := g.Changed(t.Context(), 1000); !ended || n < 3 || answer.(wire.PageTrace).Frames != growing.frames {
		t.Errorf("in the end at %d, ended %v, with %d of %d frames", n, ended, answer.(wire.PageTrace).Frames, growing.frames)
	}
	fresh, err := newIndex(t.Context(), g.now.Load().view, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(fresh.threadOf, g.now.Load().index.threadOf); diff != "" {
		t.Errorf("the index that grew differs from one that is made at once:\n%s", diff)
	}
}
