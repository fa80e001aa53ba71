//go:build linux && amd64

package webtest

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"tracewell/internal/test/testprog"
)

// record records a test program, with a number as its argument, into a file of the test.
func record(t *testing.T, program *testprog.Program, count int, options ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), filepath.Base(program.Path)+".tf")
	args := append([]string{"record", "-q", "-o", path}, options...)
	command(t, append(args, "--", program.Path, strconv.Itoa(count))...)
	return path
}

// recordThreads records calls in two threads, with values and stacks.
func recordThreads(t *testing.T) string {
	t.Helper()
	return record(t, testprog.Build(t, "threads", testprog.Variant{}), 300, "--at", "work", "--collect", "$args,$locals", "--backtrace",
		"--at", "account", "--collect", "$args,totals")
}

// loaded waits until a page of frames shows rows.
const loaded = `document.querySelector(".rows .tr")?.innerText.trim() &&
	document.querySelector(".found")?.innerText.match(/^[\d,]+( of [\d,]+)? frames?$/)`

// TestFramesPage shows each view, narrow and wide, light and dark.
func TestFramesPage(t *testing.T) {
	path := recordThreads(t)
	url := view(t, path)
	total := strings.Count(command(t, "show", path, "--json"), "\n")
	for _, size := range []struct{ width, height int64 }{{360, 740}, {1600, 900}} {
		t.Run(fmt.Sprint(size.width), func(t *testing.T) {
			p := openTab(t, size.width, size.height)
			if size.width == 1600 {
				p.dark()
			}
			p.open(url)
			p.until(loaded)
			if got := strings.ReplaceAll(p.text(".found"), ",", ""); got != fmt.Sprintf("%d frames", total) {
				t.Errorf("the page has %s, show %d", got, total)
			}
			p.shot("frames")
			p.fits()
			p.accessible()
			for key, shows := range map[string]string{
				"2": `document.querySelector(".values canvas, .values .bars")`,
				"3": `document.querySelectorAll(".source .hit").length > 0`,
				"4": `document.querySelectorAll(".flame .call").length > 3`,
				"5": `document.querySelectorAll(".overview tbody tr").length > 1`,
			} {
				p.keys(key)
				p.until(shows)
				p.fits()
				p.accessible()
				p.shot("view" + key)
			}
			if colours := eval[string](p, "document.documentElement.dataset.colours"); (colours == "dark") != (size.width == 1600) {
				t.Errorf("the colours are %s", colours)
			}
		})
	}
}

// TestFramesByKeyboard filters, selects, looks at a frame and at a range of times with keys only, and finds the same again by the address.
func TestFramesByKeyboard(t *testing.T) {
	path := recordThreads(t)
	p := openTab(t, 1200, 800)
	url := view(t, path)
	p.open(url)
	p.until(loaded)
	all := p.text(".found")

	// What is typed filters, and a mistake is told with the place.
	p.keys("/")
	p.until(`document.activeElement.id == "where"`)
	p.keys("$tid ==")
	p.until(`document.querySelector("#where[aria-invalid=true]") && document.querySelector("[role=alert]")?.innerText.includes("^")`)
	p.shot("mistake")
	p.keys(" 0")
	p.until(`document.querySelector(".found").innerText.startsWith("0 of") && !document.querySelector("[role=alert]")`)
	p.keys(kb.Escape)
	p.keys("c")
	p.until(fmt.Sprintf("document.querySelector('.found').innerText == %q && document.querySelector('#where').value == ''", all))

	// j and k select frames, arrows do in the table.
	p.keys("jjj")
	p.until(`document.querySelector(".detail h2")?.innerText == "Frame 2" && location.hash.includes("frame=2")`)
	p.keys("k")
	p.until(`document.querySelector(".detail h2")?.innerText == "Frame 1"`)
	p.do(chromedp.Focus(".table"))
	p.keys(kb.End)
	p.until(`document.querySelector(".tr.selected") && location.hash.match(/frame=\d+/)[0] != "frame=1"`)
	p.keys(kb.Home)
	p.until(`document.querySelector(".detail h2")?.innerText == "Frame 0"`)
	// Enter leads into the frame, whose values unfold by arrows.
	p.keys(kb.Enter)
	p.until(`document.activeElement.closest(".detail")`)
	p.shot("frame")

	// The timeline: arrows choose a range, Escape takes it back.
	p.do(chromedp.Focus(".lanes"))
	p.keys(kb.ArrowRight)
	p.until(`location.hash.includes("from=") && document.querySelector(".found").innerText.includes(" of ")`)
	before := eval[string](p, "location.hash")
	p.keys("-")
	p.until(fmt.Sprintf("location.hash != %q", before))
	p.shot("range")
	// The address leads to the same. The search of either page may still go on.
	again := openTab(t, 1200, 800)
	again.open(url + eval[string](p, "location.hash"))
	again.until(`document.querySelector(".detail h2")`)
	for deadline := time.Now().Add(patience); again.text(".found") != p.text(".found"); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%q, and by the address %q", p.text(".found"), again.text(".found"))
		}
	}
	p.keys(kb.Escape)
	p.until(fmt.Sprintf("!location.hash.includes('from=') && document.querySelector('.found').innerText == %q", all))

	// The list of keys.
	p.keys("?")
	p.until(`document.querySelector("dialog[open]")?.innerText.includes("filter")`)
	p.shot("keys")
	p.keys(kb.Escape)
	p.until(`!document.querySelector("dialog[open]")`)
	p.keys("T")
	p.until(`document.documentElement.dataset.colours == "light"`)
}

// TestColumns chooses columns of the table with keys only, narrow and wide. Their cells are those of CSV, the address leads to the
// same columns, and a name of the address that is collected nowhere is left out.
func TestColumns(t *testing.T) {
	path := recordThreads(t)
	url := view(t, path)
	table := filepath.Join(t.TempDir(), "run.csv")
	command(t, "convert", path, table)
	content, err := os.ReadFile(table)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(bytes.NewReader(content)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	const name = "round"
	column := slices.Index(rows[0], name)
	if column < 0 {
		t.Fatalf("%s is none of %q", name, rows[0])
	}
	row := 1 + slices.IndexFunc(rows[1:], func(row []string) bool { return row[column] != "" })
	const cells = `(n => [...document.querySelectorAll(".rows .tr")].find(r => r.querySelector(".td").innerText == n)
		?.querySelectorAll(".td")[[...document.querySelectorAll(".head .td")].findIndex(h => h.innerText == "round")]?.innerText)`
	shown := fmt.Sprintf("%s(%q) == %q", cells, rows[row][0], rows[row][column])
	for _, width := range []int64{360, 1600} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			p := openTab(t, width, 800)
			p.open(url)
			p.until(loaded)
			p.press("o")
			p.until(`document.activeElement.matches("dialog.columns input[type=search]")`)
			p.accessible()
			p.keys("roun")
			p.until(`[...document.querySelectorAll("dialog.columns li")].every(li => li.innerText.includes("roun"))`)
			p.keys(kb.ArrowDown)
			p.until(`document.activeElement.matches("dialog.columns [type=checkbox]") && document.activeElement.labels[0].innerText.trim() == "round"`)
			p.keys(" ")
			p.until(`location.hash.includes("columns=round")`)
			p.shot("chooser")
			p.fits()
			p.keys(kb.Escape)
			p.until(`!document.querySelector("dialog[open]")`)
			p.until(shown)
			p.shot("columns")
			p.fits()
			again := openTab(t, width, 800)
			again.open(url + eval[string](p, "location.hash") + "%2Cnowhere")
			again.until(shown)
			if heads := eval[string](again, `[...document.querySelectorAll(".head .td")].map(h => h.innerText).join()`); strings.Contains(heads, "nowhere") {
				t.Errorf("the columns are %s", heads)
			}
		})
	}
}

// TestRowsOfASearch: rows of a search that goes on are shown as they are found, and no more are asked for once it is done.
func TestRowsOfASearch(t *testing.T) {
	p := openTab(t, 1200, 800)
	p.open(view(t, recordThreads(t)))
	p.until(loaded)
	got := await[[]string](p, `import("./ask.js").then(({ Blocks }) => new Promise(resolve => {
		const answers = [["a"], ["a", "b"], ["a", "b"]].map((rows, i) => ({ total: rows.length, done: i === 2, rows }));
		const shown = [];
		let asked = 0;
		window.fetch = async () => new Response(JSON.stringify(answers[asked++]));
		const blocks = new Blocks("rows", {}, 3, () => {
			shown.push([0, 1, 2].map(i => blocks.row(i) ?? "").join());
			if (shown.length === 3) setTimeout(() => resolve([...shown, String(asked)]));
		});
		blocks.row(0);
	}))`)
	if want := []string{"a,,", "a,b,", "a,b,", "3"}; !slices.Equal(got, want) {
		t.Errorf("%q is shown, not %q", got, want)
	}
}

// TestHostile: names and values that want to be HTML, scripts, controls or very long are shown as text, by the page that is served and
// by that of one file.
func TestHostile(t *testing.T) {
	program := testprog.Build(t, "hostile", testprog.Variant{})
	path := record(t, program, 0, "--at", "take", "--collect", "*item,n,item->name", "--collect", "/s65535 text", "--backtrace",
		"--at", "take", "--if", "n == 7", "--collect", "text[0]@1000000")
	html := filepath.Join(t.TempDir(), "hostile.html")
	command(t, "view", path, "--html", html)
	for name, url := range map[string]string{"served": view(t, path), "file": "file://" + html} {
		t.Run(name, func(t *testing.T) {
			p := openTab(t, 1200, 800)
			p.open(url)
			p.until(loaded)
			for n := range 10 {
				p.keys("j")
				p.until(fmt.Sprintf("document.querySelector('.detail h2')?.innerText == 'Frame %d' && document.querySelector('.detail .tree')", n))
			}
			p.shot("frame")
			for _, view := range []string{"1", "2", "3", "4", "5"} {
				p.keys(view)
				p.until(`document.querySelector("#view").children.length > 0 && !document.querySelector("#view > .wait")`)
			}
			if name == "served" { // a page of one file has no other columns
				p.press("1o")
				p.until(`document.querySelectorAll("dialog.columns [type=checkbox]").length > 0`)
				p.do(chromedp.Focus("dialog.columns [type=checkbox]"))
				for range eval[int](p, `document.querySelectorAll("dialog.columns [type=checkbox]").length`) {
					p.keys(" " + kb.ArrowDown)
				}
				p.until(`location.hash.includes("columns=")`)
				p.shot("columns")
				p.keys(kb.Escape)
				p.until(`!document.querySelector("dialog[open]") && document.querySelector(".rows .tr")?.innerText.trim()`)
			}
			for _, harm := range []string{
				`document.title.includes("harmed")`, `document.querySelector("#view img, #view script, #view b")`,
				`[...document.querySelectorAll("#page *")].some(e => [...e.attributes].some(a => a.name.startsWith("on")))`,
				`/[\u202a-\u202e\u2066-\u2069\u200e\u200f\u001b]/.test(document.body.innerText)`,
			} {
				if eval[bool](p, "!!("+harm+")") {
					t.Errorf("it holds that %s", harm)
				}
			}
			p.fits()
		})
	}
}

// TestPageOfOneFile: it shows what it carries, without a server.
func TestPageOfOneFile(t *testing.T) {
	path := recordThreads(t)
	html := filepath.Join(t.TempDir(), "page.html")
	command(t, "view", path, "--html", html)
	p := openTab(t, 1200, 800)
	p.open("file://" + html)
	p.until(loaded)
	p.keys("j")
	p.until(`document.querySelector(".detail .tree")`)
	for key, shows := range map[string]string{
		"2": `document.querySelector(".values canvas, .values .bars")`,
		"4": `document.querySelectorAll(".flame .call").length > 3`,
		"5": `document.querySelectorAll(".overview tbody tr").length > 1`,
	} {
		p.keys(key)
		p.until(shows)
	}
	p.keys("1")
	p.keys("/")
	p.until(`document.activeElement.id == "where"`)
	p.keys("1 == 2")
	p.until(`document.querySelector("[role=alert]")?.innerText.includes("tracewell view")`)
	p.shot("limits")
}
