//go:build linux && amd64

package webtest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestExecutionPictures makes the pictures of execution traces and comparisons in docs/view.md.
func TestExecutionPictures(t *testing.T) {
	if *picture == "" {
		t.Skip("make view-pictures makes them")
	}
	command(t, "version") // it is built in this folder
	t.Chdir(t.TempDir())
	command(t, "gen-trace", "-n", "20k", "--fault", "interrupt@5000", "-o", "run.log", "--elf", "fw.elf")
	command(t, "gen-trace", "-n", "20k", "--fault", "interrupt@5000", "--fault", "insert@4000:3", "--fault", "state@9000", "-o", "rtl.log")
	for name, page := range map[string]struct {
		args        []string
		hash, ready string
	}{
		"view-execution": {[]string{"run.log", "--exec", "fw.elf"}, "#at=5003&from=3000&to=9000",
			`window.drawnCalls?.names.includes("start") && document.querySelector(".source .executed") && document.querySelector("[aria-label=registers] .rows .tr")`},
		"view-comparison": {[]string{"run.log", "rtl.log", "--exec", "fw.elf"}, "", `document.querySelector(".lockstep .row.here") && document.querySelector(".compared")`},
	} {
		p := openTab(t, 1400, 720)
		p.open(view(t, page.args...) + page.hash)
		p.until(page.ready)
		content, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(*picture, name+".png"), smaller(t, content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
