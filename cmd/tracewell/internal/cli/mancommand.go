package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/alecthomas/kong"

	"tracewell/cmd/tracewell/internal/cli/flags"
	"tracewell/internal/manpage"
)

// manCommand is "tracewell man".
type manCommand struct {
	Folder string `arg:"" help:"Where to write the pages, one for the program and one for each command. The folder is created if it does not exist."`
}

// Examples implements flags.Exampler.
func (*manCommand) Examples() string {
	return `  tracewell man ~/.local/share/man/man1          # where man finds them: man tracewell-record
`
}

// exitText is the section EXIT STATUS of every page; commands with more to say about it have that in their examples.
const exitText = "0 when all is done, 1 for a difference or a finding, 2 for a wrong command line, unreadable input or a failure."

// Run implements kong's command. The date of the pages is that of the commit, not of the build, so that the same source gives the
// same pages; existing pages are replaced.
func (c *manCommand) Run(k *kong.Kong) error {
	if err := os.MkdirAll(c.Folder, 0o755); err != nil {
		return fmt.Errorf("man: %w", err)
	}
	// Pages are made from the declarations that the parser has, like --help, and differ from it only in form.
	b := builtFrom()
	texts := manpage.Texts{Version: "Tracewell " + b.Version, Exit: exitText, Examples: flags.ExamplesOf}
	if t, err := time.Parse(time.RFC3339, b.Time); err == nil {
		// A build without a commit, as that of a test, leaves the date out.
		texts.Date = t.UTC().Format(time.DateOnly)
	}
	for _, page := range manpage.Pages(k.Model) {
		if err := writePage(filepath.Join(c.Folder, page.Name+".1"), page, texts); err != nil {
			return fmt.Errorf("man: %w", err)
		}
	}
	return nil
}

// writePage writes one page. An error of Close counts: on a full disk it may be the first.
func writePage(path string, page manpage.Page, texts manpage.Texts) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(page.Write(f, texts), f.Close())
}
