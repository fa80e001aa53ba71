//go:build linux && amd64

package webtest

import (
	"bytes"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/chromedp/chromedp"

	"tracewell/internal/test/testprog"
)

var (
	wanted  = flag.Int("frames", 0, "prove what the page does with a trace of so many frames")
	picture = flag.String("docs", "", "make the pictures of the documentation in this folder")
)

// What is promised of a million frames, in milliseconds, on a machine that has nothing else to do.
const (
	paintGoal  = 500
	filterGoal = 200
	taskGoal   = 50 // of the main thread; the browser calls a longer one a long task
)

// repeated makes a trace of so many frames out of copies of a small one.
func repeated(t *testing.T, frames int) string {
	t.Helper()
	path := record(t, testprog.Build(t, "threads", testprog.Variant{}), 2500, "--at", "work", "--collect", "round,sum", "--at", "account",
		"--collect", "$args")
	for count := 10_000; count < frames; count *= 10 {
		next := filepath.Join(t.TempDir(), strconv.Itoa(count)+".tf")
		args := append([]string{"convert"}, slices.Repeat([]string{path}, min(10, frames/count))...)
		command(t, append(args, next)...)
		path = next
	}
	return path
}

// TestMillion measures the page of a large trace by the browser's own clocks: when something is painted, how long after a filter has been
// typed its rows are there, and the tasks of the main thread while the table scrolls from one end to the other.
func TestMillion(t *testing.T) {
	if *wanted == 0 {
		t.Skip("a proof of minutes: make prove-view")
	}
	p := openTab(t, 1600, 900)
	p.open(view(t, repeated(t, *wanted)))
	p.until(loaded)
	paint := eval[float64](p, `performance.getEntriesByName("first-contentful-paint")[0].startTime`)
	t.Logf("%s: painted after %.0f ms", p.text(".found"), paint)
	if paint > paintGoal {
		t.Errorf("something is painted after %.0f ms, not within %d", paint, paintGoal)
	}
	// The rows of a filter are there when the first of them is one that meets it.
	for _, filter := range []struct{ where, first string }{{"round == 7", "round=7"}, {"round > 1000 && sum > 0", "round=1001"}} {
		took, err := chromedp.Run(p.ctx, chromedp.Evaluate[float64](fmt.Sprintf(`new Promise(resolve => {
			const field = document.querySelector("#where");
			const start = performance.now();
			field.value = %q;
			field.dispatchEvent(new Event("input", { bubbles: true }));
			const look = () => document.querySelector(".rows .tr")?.innerText.includes(%q)
				? resolve(performance.now() - start) : requestAnimationFrame(look);
			look();
		})`, filter.where, filter.first), chromedp.EvalAwaitPromise))
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: rows after %.0f ms", filter.where, took)
		if took > filterGoal {
			t.Errorf("%s: rows are shown after %.0f ms, not within %d", filter.where, took, filterGoal)
		}
	}
	p.keys("c")
	p.until(loaded + ` && !document.querySelector(".found").innerText.includes("of")`)
	long, err := chromedp.Run(p.ctx, chromedp.Evaluate[[]float64](`new Promise(resolve => {
		const tasks = [];
		const observer = new PerformanceObserver(list => tasks.push(...list.getEntries().map(entry => entry.duration)));
		observer.observe({ type: "longtask" });
		const table = document.querySelector(".table");
		let steps = 0;
		const step = () => {
			// Small steps as of a wheel, and now and then a leap as of a scroll bar.
			table.scrollTop += steps % 50 == 49 ? table.scrollHeight / 12 : 120;
			if (++steps < 600) requestAnimationFrame(step);
			else setTimeout(() => { observer.disconnect(); resolve(tasks); }, 500);
		};
		step();
	})`, chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("600 steps of scrolling: %d tasks of more than %d ms: %.0f", len(long), taskGoal, long)
	if len(long) > 0 {
		t.Errorf("tasks took %.0f ms", long)
	}
	p.until(`document.querySelector(".rows .tr")?.innerText.trim()`)
}

// TestPictures makes the pictures of docs/view.md.
func TestPictures(t *testing.T) {
	if *picture == "" {
		t.Skip("make view-pictures makes them")
	}
	path := record(t, testprog.Build(t, "threads", testprog.Variant{}), 600, "--at", "work", "--collect", "$args,result,*worker", "--backtrace",
		"--at", "account", "--collect", "$args,totals")
	short := filepath.Join(t.TempDir(), "run.tf") // the heading has the path
	if err := os.Rename(path, short); err != nil {
		t.Fatal(err)
	}
	t.Chdir(filepath.Dir(short))
	url := view(t, "run.tf")
	for name, hash := range map[string]string{
		"view-frames": "#frame=4&by=tracepoint",
		"view-values": "#view=values&y=result&kind=line",
	} {
		p := openTab(t, 1200, 680)
		p.open(url + hash)
		p.until(`document.querySelector(".detail .tree, .values canvas") && ` + `document.querySelector(".found").innerText.includes("frames")`)
		content, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
		if err != nil {
			t.Fatal(err)
		}
		content = smaller(t, content)
		if err := os.WriteFile(filepath.Join(*picture, name+".png"), content, 0o600); err != nil {
			t.Fatal(err)
		}
		const most = 100 << 10
		if len(content) > most {
			t.Errorf("%s has %d bytes", name, len(content))
		}
	}
}

// smaller has a picture use the 256 colours that come most often in it: text on a plain ground has few more.
func smaller(t *testing.T, content []byte) []byte {
	t.Helper()
	whole, err := png.Decode(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	counts := make(map[color.Color]int)
	bounds := whole.Bounds()
	for y := range bounds.Dy() {
		for x := range bounds.Dx() {
			counts[whole.At(x, y)]++
		}
	}
	var colours []color.Color
	for c := range counts {
		colours = append(colours, c)
	}
	slices.SortFunc(colours, func(a, b color.Color) int { return counts[b] - counts[a] })
	reduced := image.NewPaletted(bounds, colours[:min(256, len(colours))])
	draw.Draw(reduced, bounds, whole, bounds.Min, draw.Src)
	var out bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	if err := encoder.Encode(&out, reduced); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
