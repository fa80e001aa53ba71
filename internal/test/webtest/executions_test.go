package webtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"tracewell/itrace/dialects"
	"tracewell/itrace/execution"
	"tracewell/itrace/generate"
	"tracewell/itrace/match"
	"tracewell/itrace/match/batch"
	"tracewell/itrace/matcher"
	"tracewell/symbol"
	"tracewell/web"
	"tracewell/web/comparison"
	subject "tracewell/web/execution"
	"tracewell/web/sources"
)

// press types characters, as a user who has no mouse. Runes of other keys are in chromedp/kb. A key that the page has used for itself types
// nothing, as with a keyboard; chromedp's own actions send what is typed beside the key.
func (p *tab) press(keys string) {
	p.Helper()
	p.do(chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		for _, r := range keys {
			events := kb.Encode(r)
			down, up := *events[0], *events[len(events)-1]
			if len(events) == 3 {
				down.Type, down.Text = input.DispatchKeyEventTypeKeyDown, events[1].Text
			}
			for _, e := range []input.DispatchKeyEventParams{down, up} {
				if _, err := cdp.Call(ctx, target, input.DispatchKeyEvent, e); err != nil {
					return err
				}
			}
		}
		return nil
	}))
}

// sound checks what holds of every page at any time: no name has become a part of it, nothing is wider than the window, and what can be
// pressed has a name.
func (p *tab) sound(what string) {
	p.Helper()
	if eval[bool](p, "'owned' in window || document.querySelector('#page script, #page img, #page iframe') !== null") {
		p.Errorf("%s: a name has become a part of the page", what)
	}
	p.fits()
	p.accessible()
	p.shot(what)
}

// opened is a tab that shows an address.
func opened(t *testing.T, url string, width, height int64) *tab {
	t.Helper()
	p := openTab(t, width, height)
	p.open(url)
	return p
}

// served serves a subject to the end of the test.
func served(t *testing.T, s web.Subject) (url string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := web.NewServer(s, "test", listener)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- server.Serve(ctx, listener) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return server.URL()
}

// generatedTrace is a generated trace with faults.
func generatedTrace(t *testing.T, faults ...generate.Fault) []byte {
	t.Helper()
	var text bytes.Buffer
	if _, err := generate.Write(&text, generate.Options{Instructions: 20_000, Faults: faults}); err != nil {
		t.Fatal(err)
	}
	return text.Bytes()
}

// generatedProgram is the program of generated traces, and its source.
func generatedProgram(t *testing.T) (*symbol.Program, *sources.Sources) {
	t.Helper()
	folder := t.TempDir()
	source, elf := filepath.Join(folder, "fw.c"), filepath.Join(folder, "fw.elf")
	var file bytes.Buffer
	if err := errors.Join(generate.WriteELF(&file, source), os.WriteFile(elf, file.Bytes(), 0o600),
		os.WriteFile(source, []byte(generate.Source()), 0o600)); err != nil {
		t.Fatal(err)
	}
	program, err := symbol.Open(elf, symbol.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { program.Close() })
	offered, err := sources.New(elf, nil)
	if err != nil {
		t.Fatal(err)
	}
	return program, offered
}

// executionOf is the subject of a trace.
func executionOf(t *testing.T, name string, text []byte, program *symbol.Program, offered *sources.Sources) *subject.Subject {
	t.Helper()
	o := subject.Options{Content: bytes.NewReader(text), Size: int64(len(text)), Program: program, Sources: offered}
	source := execution.Source{Name: name, Content: o.Content, Size: o.Size}
	e, _, err := execution.Open(source, matcher.Dialect, execution.Options{Arch: "mips"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	o.Execution = e
	return subject.New(o)
}

// widths are those of a phone and of a large screen.
var widths = []int64{360, 1600}

// at is an expression: the cursor is at an instruction, and what is known there is shown.
func at(n int) string {
	return fmt.Sprintf(`(new URLSearchParams(location.hash.slice(1)).get("at") || "0") === "%d" &&
		document.querySelector(".where bdi").textContent !== ""`, n)
}

// TestExecutionPage drives the page of an execution trace by keys alone.
func TestExecutionPage(t *testing.T) {
	program, offered := generatedProgram(t)
	const interrupted = 5000
	trace := generatedTrace(t, generate.Fault{Kind: generate.FaultInterrupt, At: interrupted})
	for _, width := range widths {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			p := opened(t, served(t, executionOf(t, "run.log", trace, program, offered)), width, 800)
			// Calls are drawn when the trace has been read.
			p.until(`window.drawnCalls && drawnCalls.slices > 10 && drawnCalls.names.includes("start")`)
			p.until(`document.querySelector("[data-name=trace] .tr.selected")?.textContent.includes("80008000")`)
			p.sound("trace")
			for keys, want := range map[string]int{"ss": 2} {
				p.press(keys)
				p.until(at(want))
			}
			p.press("S")
			p.until(at(1))
			// A function is looked for, and left to where it has come from.
			p.press("/")
			p.until(`document.activeElement.type === "search"`)
			p.press("handler\r")
			p.until(at(interrupted))
			p.until(`document.querySelector(".where bdi").textContent === "handler"`)
			p.press("9")
			p.until(`document.querySelector("[aria-label=calls]")?.textContent.includes("handler")`)
			p.sound("calls")
			p.press("f")
			p.until(at(interrupted + 8))
			p.press("F") // out of mix, which was interrupted: to the call's delay slot
			p.until(`document.querySelector(".where bdi").textContent.startsWith("start")`)
			called := eval[string](p, `new URLSearchParams(location.hash.slice(1)).get("at")`)
			p.press("n")
			p.until(`document.querySelector(".where bdi").textContent === "start+36"`)
			p.press("N")
			p.until(at2(called))
			// Who wrote a register, and back to where that was.
			p.press("6")
			p.until(`document.querySelector("[aria-label=registers] .rows .tr")`)
			p.sound("registers")
			p.press("8")
			p.until(`document.activeElement.getAttribute("aria-label")?.startsWith("A register")`)
			p.press("t0\r")
			p.until(`document.querySelector("[aria-label=accesses]")?.textContent.includes("cursor")`)
			p.sound("accesses")
			eval[bool](p, `document.querySelector("[aria-label=accesses]").focus() || true`)
			p.press(kb.ArrowUp + kb.Enter)
			p.until(`new URLSearchParams(location.hash.slice(1)).get("at") < ` + called)
			// Memory, code and what of it was executed.
			for _, view := range []struct{ key, shown, name string }{
				{"7", `document.querySelector("[aria-label=memory] .rows .tr")`, "memory"},
				{"2", `document.querySelector(".source .current") && document.querySelector(".source .executed")`, "source"},
				{"3", `document.querySelector("[aria-label=assembly] .tr.selected")?.textContent.match(/8000/)`, "assembly"},
				{"4", `document.querySelector("[aria-label=functions]")?.textContent.includes("mix")`, "functions"},
				{"5", `document.querySelector("[aria-label=files]")?.textContent.includes("fw.c")`, "coverage"},
			} {
				p.press(view.key)
				p.until(view.shown)
				p.sound(view.name)
			}
			// The address leads to the same again.
			here := eval[string](p, "location.href")
			again := opened(t, here, width, 800)
			again.until(`document.querySelector("[aria-label=files]")`)
			again.until(`document.querySelector(".where").textContent === ` + fmt.Sprintf("%q", eval[string](p, `document.querySelector(".where").textContent`)))
			p.press("?")
			p.until(`document.querySelector("dialog").textContent.includes("on over calls")`)
			p.sound("keys")
		})
	}
}

// at2 is at for a number that a page has told.
func at2(n string) string {
	return fmt.Sprintf(`new URLSearchParams(location.hash.slice(1)).get("at") === %q`, n)
}

// comparedTraces is the comparison of a trace with one that has faults.
func comparedTraces(t *testing.T, faults ...generate.Fault) *batch.Result {
	t.Helper()
	inputs := [2]match.Input{}
	for side, text := range [][]byte{generatedTrace(t), generatedTrace(t, faults...)} {
		inputs[side] = match.Input{Name: [2]string{"iss.log", "rtl.log"}[side], Reader: bytes.NewReader(text)}
	}
	r := match.Compare(context.Background(), inputs[0], inputs[1], dialects.All, match.Options{Context: 64, Following: 32, Consequences: 100})
	return &batch.Result{Result: match.Result{Name: "iss.log rtl.log", Report: r}}
}

// TestComparisonPage drives the page of comparisons by keys alone: the pairs of a regression, and the root causes of one.
func TestComparisonPage(t *testing.T) {
	program, offered := generatedProgram(t)
	results := []*batch.Result{comparedTraces(t), comparedTraces(t, generate.Fault{Kind: generate.FaultState, At: 3000},
		generate.Fault{Kind: generate.FaultInsert, At: 9000, N: 3})}
	failed := batch.Failed(batch.Pair{Name: "a b"}, errors.New("a: no such file"))
	for _, width := range widths {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			s := comparison.New(append(results, failed), comparison.Options{
				Dialects: dialects.All, Programs: [2]*symbol.Program{program, program}, Sources: offered,
			})
			p := opened(t, served(t, s), width, 800)
			p.until(`document.querySelectorAll("[aria-label=pairs] .rows .tr").length === 3`)
			p.until(`document.querySelector("[aria-label=pairs] .tr.selected").textContent.includes("failed")`)
			p.sound("pairs")
			p.press("j\r")
			// The first difference is in view.
			const inView = `(() => {
				const row = document.querySelector(".lockstep .row.here")?.getBoundingClientRect(), box = document.querySelector(".lockstep")?.getBoundingClientRect();
				return row && row.top >= box.top && row.bottom <= box.bottom && row.height > 0;
			})()`
			p.until(inView)
			p.until(`document.querySelector(".lockstep .row.here mark")`)
			p.until(`document.querySelector(".compared").textContent.includes("s2")`)
			p.sound("root")
			first := eval[string](p, `document.querySelector(".summary").textContent`)
			p.press("n")
			p.until(fmt.Sprintf(`document.querySelector(".summary").textContent !== %q && %s`, first, inView))
			p.until(`document.querySelector(".lockstep-foot").textContent.includes("both go on together")`)
			p.press("p")
			p.until(fmt.Sprintf(`document.querySelector(".summary").textContent === %q && %s`, first, inView))
			// Equal lines are folded until they are asked for.
			rows := eval[int](p, `document.querySelectorAll(".lockstep .row").length`)
			p.press("z")
			p.until(fmt.Sprintf(`document.querySelectorAll(".lockstep .row").length > %d`, rows))
			p.press("s")
			p.until(`document.querySelector(".source .current")`)
			p.sound("comparison-source")
			p.press("kkk")
			p.until(`new URLSearchParams(location.hash.slice(1)).get("row") !== null`)
			p.press("h")
			p.until(`new URLSearchParams(location.hash.slice(1)).get("row") === null`)
			p.press("c")
			p.until(`document.querySelectorAll("[aria-label='root causes'] .rows .tr").length > 1`)
			// Consequences are folded; one that is chosen is there as both traces have it.
			p.press("f")
			p.until(`document.querySelectorAll("[aria-label=consequences] .rows .tr").length > 0`)
			p.do(chromedp.Focus("[aria-label=consequences]"))
			p.press(kb.End)
			p.until(`document.querySelector("[aria-label=consequences] .tr.selected:last-child") && document.querySelector(".quoted dd bdi").textContent`)
			p.sound("consequences")
			p.press("i")
			p.until(`document.querySelector(".told").textContent.includes("compared")`)
			p.sound("summary")
			p.press("u")
			p.until(`document.querySelector("[aria-label=pairs]")`)
		})
	}
}

// hostile is what a name would do if it were taken for markup.
const hostile = `<img src=x onerror=window.owned=1><script>window.owned=1</script>`

// TestHostileExecutions: instructions, registers and names of results are text, whatever they are.
func TestHostileExecutions(t *testing.T) {
	long := strings.Repeat("A", 1<<16)
	var trace strings.Builder
	for i := range 200 {
		fmt.Fprintf(&trace, "%d clk 0 IT (%d) %08x 00000000 A svc : %s \u202e%s\n%d clk R <b>%d</b> 00000001\n", i, i, 0x1000+4*i, hostile, long, i, i%7)
	}
	p := opened(t, served(t, executionOf(t, hostile+"\u202e", []byte(trace.String()), nil, nil)), 360, 800)
	p.until(`document.querySelector("[data-name=trace] .rows")?.textContent.includes("<script>window.owned=1</script>")`)
	for _, key := range []string{"s", "n", "3", "4", "6", "7", "8"} {
		p.press(key)
	}
	p.until(at(2))
	p.sound("hostile-execution")

	position := func() *match.Position { return &match.Position{File: hostile, Line: 1, Text: hostile + long} }
	follower := match.Consequence{Difference: match.Difference{Class: hostile, What: hostile + long, Note: hostile, Other: position()}}
	result := &batch.Result{Notes: []string{hostile}, Result: match.Result{Name: hostile, Report: &match.Report{
		Verdict: match.Different, Consequences: 1, ConsequenceList: []match.Consequence{follower}, Traces: [2]match.Trace{{File: hostile + long}, {File: hostile, Dialect: hostile}},
		Differences: []match.Difference{{Class: hostile, What: hostile + long, Expected: hostile, Got: long, Note: hostile, Reference: position(),
			Other: position(), Context: &match.Context{Reference: []match.Position{*position()}, Other: []match.Position{*position()},
				Registers: []match.Value{{Register: hostile, Reference: long, Other: hostile, Differs: true}}}}}}}}
	p = opened(t, served(t, comparison.New([]*batch.Result{result}, comparison.Options{Dialects: dialects.All})), 360, 800)
	p.until(`document.querySelector(".lockstep .row.here")`)
	for _, key := range []string{"s", "c", "f", "i", "r"} {
		p.press(key)
	}
	p.until(`document.querySelector(".compared")?.textContent.includes("<img")`)
	p.sound("hostile-comparison")
}

// TestExecutionFile: a page of one file shows what it carries, and says what it does not.
func TestExecutionFile(t *testing.T) {
	program, offered := generatedProgram(t)
	pages := map[string]web.Subject{
		"execution": executionOf(t, "run.log", generatedTrace(t), program, offered),
		"comparison": comparison.New([]*batch.Result{comparedTraces(t, generate.Fault{Kind: generate.FaultState, At: 3000})},
			comparison.Options{Dialects: dialects.All, Programs: [2]*symbol.Program{program, program}, Sources: offered}),
	}
	for name, s := range pages {
		var file bytes.Buffer
		if err := web.WritePage(context.Background(), &file, s, "test"); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), name+".html")
		if err := os.WriteFile(path, file.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		p := opened(t, "file://"+path, 1600, 800)
		if name == "comparison" {
			p.until(`document.querySelector(".lockstep .row.here mark")`)
			p.press("s")
			p.until(`document.querySelector(".source .current")`)
			p.sound("file-comparison")
			continue
		}
		p.until(`window.drawnCalls && drawnCalls.names.includes("start")`)
		p.until(`document.querySelector(".source .executed")`)
		p.press("sss")
		p.until(at(3))
		p.sound("file-execution")
		p.press("8")
		p.until(`document.activeElement.type === "search"`)
		p.press("t0\r")
		p.until(`document.body.innerText.includes("one file")`)
	}
}
