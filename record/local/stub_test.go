//go:build linux && amd64

package local

import (
	"slices"
	"strings"
	"testing"

	"tracewell/internal/test/recording"
	"tracewell/internal/test/stubs"
	"tracewell/internal/test/testprog"
	"tracewell/record"
)

// TestAsByStubs records the same plan here and by stubs with tracepoints, with the same values.
func TestAsByStubs(t *testing.T) {
	const rich = `
		tvariable $hits = 100
		trace push if item->number > 2
		actions
		teval $hits = $hits + 1
		collect item->number, item->weight, q->length, pushes, $hits
		collect/s item->label
		end
		trace work if factor > 1
		actions
		collect factor, item->number
		end
		trace pop
		passcount 1000
		actions
		collect pops
		end
	`
	p := testprog.Build(t, "queue", testprog.Variant{})
	here := run(t, config(t, rich, p.Path, "12"))
	want := recording.Contents(t, here.file)
	if len(want) < 20 {
		t.Fatalf("%d frames here", len(want))
	}
	stubs.Each(t, func(t *testing.T, server []string) {
		result, file := stubs.Record(t, rich, func(*record.Config) string { return stubs.Start(t, server, p.Path, "12").Address })
		if got := recording.Contents(t, file); !slices.Equal(got, want) {
			t.Errorf("%d frames:\n%s\nhere %d:\n%s", len(got), strings.Join(got, "\n"), len(want), strings.Join(want, "\n"))
		}
		h := file.Header()
		if len(h.Tracepoints) < 3 || len(h.Variables) != len(here.file.Header().Variables) ||
			!strings.Contains(h.Description, " "+p.Path+" -->") || h.Status.Frames != int64(len(want)) || h.Status.Running {
			t.Errorf("%+v, %+v, %+v", h.Tracepoints, h.Variables, h.Status)
		}
		for i, point := range result.Feed.Points {
			if n := uint64(recording.Count(file, point.Number)); point.Frames != n || point.Hits != n {
				t.Errorf("tracepoint %d: feed %+v, %d frames", i, point, n)
			}
		}
		for _, d := range h.Tracepoints {
			if d.Number == 1 && (d.Source.Cond != "item->number > 2" || d.Source.At != "push" || d.Hits == 0) {
				t.Errorf("%+v", d)
			}
		}
	})
}
