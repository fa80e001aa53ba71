package webtest

import (
	"bufio"
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"tracewell/internal/test/gdbtest"
	"tracewell/internal/test/testtool"
)

var pictures = flag.String("pictures", "", "keep the pictures of pages in this folder")

// patience is for what a page does on a loaded machine.
const patience = 60 * time.Second

// browser is the one that all tests share, each in a tab of its own.
var browser struct {
	once   sync.Once
	ctx    context.Context
	cancel context.CancelFunc
}

func TestMain(m *testing.M) {
	status := m.Run()
	if browser.cancel != nil {
		browser.cancel()
	}
	os.Exit(status)
}

// tab is a page in the browser.
type tab struct {
	*testing.T
	ctx context.Context

	mu         sync.Mutex
	complaints []string      // of the browser: exceptions, refused scripts
	events     []traceEvent  // of the browser's tracing
	lost       bool          // some are missing
	complete   chan struct{} // closed when all have come
}

// openTab opens an empty tab of a size in CSS pixels.
func openTab(t *testing.T, width, height int64) *tab {
	t.Helper()
	chromium := testtool.Path(t, "chromium")
	browser.once.Do(func() {
		options := []chromedp.ExecAllocatorOption{chromedp.ExecPath(chromium), chromedp.Headless, chromedp.DisableGPU}
		if os.Geteuid() == 0 { // the browser's sandbox needs another user
			options = append(options, chromedp.NoSandbox)
		}
		allocator, cancel := chromedp.NewExecAllocator(context.Background(), options...)
		browser.ctx, _ = chromedp.NewContext(allocator)
		browser.cancel = cancel
		if err := chromedp.Do(browser.ctx, chromedp.Navigate("about:blank")); err != nil {
			t.Fatal(err)
		}
	})
	p := &tab{T: t}
	ctx, cancel := chromedp.NewContext(browser.ctx, chromedp.WithListener(p.listen))
	t.Cleanup(cancel)
	ctx, cancelTime := context.WithTimeout(ctx, 4*patience)
	t.Cleanup(cancelTime)
	p.ctx = ctx
	p.do(chromedp.EmulateViewport(width, height))
	return p
}

// listen collects what the browser complains of, and what it traces.
func (p *tab) listen(event any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.collect(event)
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		p.complaints = append(p.complaints, fmt.Sprintf("%+v", e.ExceptionDetails))
	case *log.EventEntryAdded:
		// A filter that is not complete is answered by 400, which the browser logs.
		if e.Entry.Level == log.EntryLevelError && !strings.Contains(e.Entry.Text, "400 (Bad Request)") {
			p.complaints = append(p.complaints, e.Entry.Text)
		}
	case *page.EventJavascriptDialogOpening:
		p.complaints = append(p.complaints, "dialog: "+e.Message)
	}
}

func (p *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	p.Helper()
	for _, action := range actions {
		if err := chromedp.Do(p.ctx, action); err != nil {
			p.Fatal(err)
		}
	}
}

// open opens an address, and fails the test in the end if the browser complains of anything.
func (p *tab) open(url string) {
	p.Helper()
	p.do(chromedp.Navigate(url))
	p.Cleanup(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, complaint := range p.complaints {
			p.Errorf("the browser complains: %s", complaint)
		}
	})
}

// eval evaluates an expression of JavaScript.
func eval[T any](p *tab, expression string) T {
	p.Helper()
	value, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		p.Fatalf("%s: %v", expression, err)
	}
	return value
}

// await evaluates an expression of JavaScript that is a promise of a value, and waits for that.
func await[T any](p *tab, expression string) T {
	p.Helper()
	value, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		p.Fatalf("%s: %v", expression, err)
	}
	return value
}

// until waits until a condition holds.
func (p *tab) until(condition string) {
	p.Helper()
	for deadline := time.Now().Add(patience); !eval[bool](p, "!!("+condition+")"); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			p.shot("failed")
			p.Fatalf("it never holds that %s; the page has\n%.3000s", condition, p.text("body"))
		}
	}
}

// text is what the first element that a selector finds shows, "" if there is none.
func (p *tab) text(selector string) string {
	p.Helper()
	return eval[string](p, fmt.Sprintf("document.querySelector(%q)?.innerText || ''", selector))
}

// keys presses keys, one after the other.
func (p *tab) keys(keys string) {
	p.Helper()
	p.do(chromedp.KeyEvent(keys))
}

// dark has the system ask for dark colours.
func (p *tab) dark() {
	p.Helper()
	p.do(func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}},
		})
		return chromedp.Void{}, err
	})
}

// shot keeps a picture of the page if -pictures says where.
func (p *tab) shot(name string) {
	p.Helper()
	if *pictures == "" {
		return
	}
	picture, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		p.Fatal(err)
	}
	path := filepath.Join(*pictures, strings.ReplaceAll(p.Name(), "/", "-")+"-"+name+".png")
	if err := os.WriteFile(path, picture, 0o600); err != nil {
		p.Fatal(err)
	}
}

// fits checks that the page itself does not scroll sideways: only what is wide within it may.
func (p *tab) fits() {
	p.Helper()
	if wide := eval[int](p, "document.documentElement.scrollWidth - innerWidth"); wide > 0 {
		p.Errorf("the page is %d pixels wider than the window", wide)
		p.shot("wide")
	}
}

// accessible checks what screen readers need: whatever takes the focus or can be pressed has a name, and every label of an image
// says something.
func (p *tab) accessible() {
	p.Helper()
	const nameless = `[...document.querySelectorAll("button, a[href], input, select, [tabindex='0'], [role=img], [role=tab], [role=grid]")]
		.filter(e => e.checkVisibility() && !(e.innerText || "").trim() && !e.getAttribute("aria-label") && !e.labels?.length && !e.title)
		.map(e => e.outerHTML.slice(0, 200))`
	for _, element := range eval[[]string](p, nameless) {
		p.Errorf("without a name: %s", element)
	}
}

// view starts "tracewell view" and returns the address that it prints. It ends with the test.
func view(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command(gdbtest.Binary(t), append([]string{"view"}, args...)...)
	var messages bytes.Buffer
	cmd.Stderr = &messages
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Signal(os.Interrupt)
		io.Copy(io.Discard, out)
		if err := cmd.Wait(); err != nil {
			t.Errorf("tracewell view: %v, %s", err, &messages)
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("%v: %s", err, &messages)
	}
	return strings.TrimSpace(line)
}

// command runs tracewell and returns what it prints.
func command(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command(gdbtest.Binary(t), args...)
	var messages bytes.Buffer
	cmd.Stderr = &messages
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%q: %v, %s", args, err, &messages)
	}
	return string(out)
}
