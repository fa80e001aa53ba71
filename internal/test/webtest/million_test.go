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
)

// smallFrames is the size of the trace that the large one is made of, and that is measured for comparison.
const smallFrames = 10_000

// repeated makes a trace of so many frames out of copies of a small one.
func repeated(t *testing.T, small string, frames int) string {
	t.Helper()
	path := small
	for count := smallFrames; count < frames; count *= 10 {
		next := filepath.Join(t.TempDir(), strconv.Itoa(count)+".tf")
		args := append([]string{"convert"}, slices.Repeat([]string{path}, min(10, frames/count))...)
		command(t, append(args, next)...)
		path = next
	}
	return path
}

// figures are what is measured of a page, in milliseconds where they are times.
type figures struct {
	paint   float64
	filters []float64
	search  float64 // until all frames have been searched
	tasks   []tasks // by what was done, as in doings
}

// The filters that are typed, and what the first row has then. The rows of the last one are far behind in a large trace, if there
// are any.
var filters = []struct{ where, first string }{{"round == 7", "round=7"}, {"round > 1000 && sum > 0", "round=1001"}}

// nothing is a filter that no frame meets, so that all are searched.
const nothing = "round == 123456789"

// doings are what a user does, of which the tasks are measured.
var doings = []struct {
	name string
	do   func(*tab)
}{
	{"table scrolled", (*tab).scrollTable},
	{"timeline brushed", (*tab).brushTimeline},
	{"plots", (*tab).lookAtPlots},
}

// TestMillion measures the page of a large trace by the browser's own clocks: when something is painted, how long after a filter has been
// typed its rows are there, and the tasks of the main thread while the table scrolls from one end to the other, the timeline is
// brushed, and plots are made. Beside them stand the figures of a small trace, and the tasks of a page without anything: other
// programs on the machine make them longer, too. So a goal is missed only by what the small trace does not take as well, and a
// task only if the processor was used for it.
func TestMillion(t *testing.T) {
	if *wanted == 0 {
		t.Skip("a proof of minutes: make prove-view")
	}
	small := record(t, testprog.Build(t, "threads", testprog.Variant{}), 2500, "--at", "work", "--collect", "round,sum", "--at", "account",
		"--collect", "$args")
	large := repeated(t, small, *wanted)
	empty := openTab(t, 1600, 900)
	empty.open("data:text/html,<title>empty</title><p>Nothing")
	emptyPaint := empty.paint()
	idle := empty.traced(func() {
		await[bool](empty, `new Promise(resolve => {
			let steps = 0;
			const step = () => ++steps < 600 ? requestAnimationFrame(step) : resolve(true);
			step();
		})`)
	})
	few, many := measure(t, small), measure(t, large)

	t.Logf("%-34s %10s %10s %10s   goal", "milliseconds", "empty page", "small", "large")
	judge := func(name, nothing string, few, many, goal float64) {
		t.Logf("%-34s %10s %10.0f %10.0f   %.0f", name, nothing, few, many, goal)
		if many > goal && many > goal+few {
			t.Errorf("%s: %.0f ms, not %.0f, and %.0f with a small trace", name, many, goal, few)
		}
	}
	judge("painted", fmt.Sprintf("%.0f", emptyPaint), few.paint, many.paint, paintGoal)
	for i, filter := range filters {
		judge("rows of "+filter.where, "", few.filters[i], many.filters[i], filterGoal)
	}
	t.Logf("%-34s %10s %10.0f %10.0f", "all searched for "+nothing, "", few.search, many.search)
	t.Logf("%-34s %s", "empty page, 600 frames drawn", idle)
	for i, doing := range doings {
		t.Logf("%-17s small: %s", doing.name, few.tasks[i])
		t.Logf("%-17s large: %s", doing.name, many.tasks[i])
		if longest := many.tasks[i].longestProcessor.Milliseconds(); longest > taskGoal {
			t.Errorf("%s: a task took %d ms of the processor", doing.name, longest)
		}
	}
}

// measure measures the page of a trace.
func measure(t *testing.T, path string) (f figures) {
	t.Helper()
	p := openTab(t, 1600, 900)
	p.open(view(t, path))
	p.until(loaded)
	f.paint = p.paint()
	t.Logf("%s: %s", filepath.Base(path), p.text(".found"))
	// The rows of a filter are there when the first of them is one that meets it.
	for _, filter := range filters {
		f.filters = append(f.filters, p.filter(filter.where, fmt.Sprintf(`document.querySelector(".rows .tr")?.innerText.includes(%q)`, filter.first)))
	}
	f.search = p.filter(nothing, `document.querySelector(".found").innerText.match(/^0 of [^…]*$/)`)
	p.keys("c")
	p.until(loaded + ` && !document.querySelector(".found").innerText.includes("of")`)
	for _, doing := range doings {
		f.tasks = append(f.tasks, p.traced(func() { doing.do(p) }))
	}
	return f
}

// paint is when the first content was painted, in milliseconds from the beginning of the navigation.
func (p *tab) paint() float64 {
	p.Helper()
	const first = `performance.getEntriesByName("first-contentful-paint")[0]`
	p.until(first)
	return eval[float64](p, first+".startTime")
}

// filter types a filter and returns how many milliseconds later something is shown.
func (p *tab) filter(where, shown string) float64 {
	p.Helper()
	return await[float64](p, fmt.Sprintf(`new Promise(resolve => {
		const field = document.querySelector("#where");
		const start = performance.now();
		field.value = %q;
		field.dispatchEvent(new Event("input", { bubbles: true }));
		const look = () => %s ? resolve(performance.now() - start) : requestAnimationFrame(look);
		look();
	})`, where, shown))
}

// scrollTable scrolls in small steps as of a wheel, and now and then leaps as of a scroll bar.
func (p *tab) scrollTable() {
	p.Helper()
	await[bool](p, `new Promise(resolve => {
		const table = document.querySelector(".table");
		let steps = 0;
		const step = () => {
			table.scrollTop += steps % 50 == 49 ? table.scrollHeight / 12 : 120;
			++steps < 600 ? requestAnimationFrame(step) : resolve(true);
		};
		step();
	})`)
	p.until(`document.querySelector(".rows .tr")?.innerText.trim()`)
}

// brushTimeline chooses a range of the timeline with the mouse, which filters the table, and takes it back.
func (p *tab) brushTimeline() {
	p.Helper()
	at := eval[[]float64](p, `(r => [r.left, r.top, r.width, r.height])(document.querySelector(".lanes canvas").getBoundingClientRect())`)
	x, y := at[0]+at[2]/3, at[1]+at[3]/2
	p.do(chromedp.MouseEvent(chromedp.MousePressed, x, y, chromedp.ButtonLeft, chromedp.ClickCount(1)))
	const moves = 60
	for i := range moves {
		p.do(chromedp.MouseEvent(chromedp.MouseMoved, x+float64(i+1)*at[2]/3/moves, y, chromedp.ButtonLeft))
	}
	p.do(chromedp.MouseEvent(chromedp.MouseReleased, x+at[2]/3, y, chromedp.ButtonLeft, chromedp.ClickCount(1)))
	p.until(`location.hash.includes("from=") && document.querySelector(".found").innerText.match(/ of [^…]*$/)`)
	p.until(`document.querySelector(".rows .tr")?.innerText.trim()`)
	p.keys("x")
	p.until(`!document.querySelector(".found").innerText.includes(" of ")`)
}

// lookAtPlots makes each kind of plot, and moves the mouse over it.
func (p *tab) lookAtPlots() {
	p.Helper()
	for _, kind := range []string{"line", "points", "histogram", "heat"} {
		eval[string](p, fmt.Sprintf(`location.hash = "view=values&y=round&kind=%s"`, kind))
		p.until(fmt.Sprintf(`document.querySelector(".values [aria-pressed=true]")?.innerText.toLowerCase().startsWith(%q) &&
			document.querySelector(".values [role=status]")?.innerText.includes("values from") &&
			document.querySelector(".values canvas, .values .bars")`, kind))
		for i := range 20 {
			p.do(chromedp.MouseEvent(chromedp.MouseMoved, float64(200+i*50), 700))
		}
	}
	p.keys("1")
	p.until(loaded)
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
