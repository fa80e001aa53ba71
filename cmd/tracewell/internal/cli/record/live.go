package record

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/cmd/tracewell/internal/cli/page"
	"tracewell/internal/routine"
	"tracewell/symbol"
	"tracewell/tfile"
	"tracewell/view"
	"tracewell/web/frames"
	"tracewell/web/sources"
)

// livePage is the page of --view: the file of the run as it grows. Nothing passes from the run to the page but the file, so
// that a page that is looked at slowly, or by nobody, does not hold up the program.
type livePage struct {
	names  *symbol.Program
	over   chan struct{} // closed when the run has ended
	failed chan error    // of serving
	stop   context.CancelFunc
	last   fs.FileInfo // of the file as it was opened last
}

// showPage begins to serve the page, as soon as the run has made its file.
func (r *recordRun) showPage(program *symbol.Program) *livePage {
	// Not the context of the run: the page is there when the run has been ended.
	ctx, cancel := context.WithCancel(context.Background())
	p := &livePage{names: program, over: make(chan struct{}), failed: make(chan error, 1), stop: cancel}
	routine.Go(func() { p.failed <- p.serve(ctx, r) })
	return p
}

// filePause is between two looks whether the run has made its file.
const filePause = 20 * time.Millisecond

// serve serves the page until the context ends.
func (p *livePage) serve(ctx context.Context, r *recordRun) error {
	path := ""
	if p.names != nil {
		defer p.names.Close()
		path = p.names.Main().Path()
	}
	address, err := page.Loopback("127.0.0.1:0")
	if err != nil {
		return err
	}
	files, err := sources.New(path, nil)
	if errors.Is(err, fs.ErrNotExist) { // the program is deleted, or another machine has it
		files, err = sources.New("", nil)
	}
	if err != nil {
		return err
	}
	for over := false; ; {
		if _, err := os.Stat(r.output.path); err == nil || over {
			break
		}
		select {
		case <-time.After(filePause):
		case <-p.over:
			over = true
		}
	}
	growing, err := frames.NewGrowing(ctx, r.output.String(), func() (*view.View, error) { return p.open(r.output.path) }, files)
	if err != nil {
		return err
	}
	page.ListSources(r.streams, files.Names())
	routine.Go(func() { growing.Follow(ctx, p.over) })
	// The program may write to standard output.
	return page.Serve(ctx, r.streams.Err, r.streams.Err, growing, page.Place{Address: address}, r.version)
}

// open opens the file as it is, nil if it is as it was. What cannot be read of its end has not been written yet. Nothing closes the
// file but the end of its use: answers of the page may still be read from it when the next one is there.
func (p *livePage) open(path string) (*view.View, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if p.last != nil && os.SameFile(p.last, info) && p.last.Size() == info.Size() && p.last.ModTime().Equal(info.ModTime()) {
		return nil, nil
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	content, err := tfile.Open(file, info.Size())
	if content == nil {
		file.Close()
		return nil, err
	}
	p.last = info
	v, _ := view.New(content, p.names) // warnings are those of the finished file
	return v, nil
}

// wait keeps the page after the end of the run until the user has had enough of it.
func (p *livePage) wait(streams console.Streams) error {
	defer p.stop()
	fmt.Fprintln(streams.Err, "The page is there until Ctrl-C.")
	ctx, cancel := console.UntilInterrupted()
	defer cancel()
	select {
	case err := <-p.failed:
		return err
	case <-ctx.Done():
	}
	p.stop()
	return <-p.failed
}
