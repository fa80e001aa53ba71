//go:build linux && amd64

package record

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"tracewell/internal/routine"
	"tracewell/internal/sys"
	"tracewell/internal/wholefile"
	"tracewell/record/output"
	"tracewell/target"
	"tracewell/target/linux"
	"tracewell/tfile"
	"tracewell/trace"
)

// leave ends the run, lets go of all processes, and completes the file.
func (s *Session) leave(ctx context.Context) error {
	// The program goes on while its sites are removed; hits that come meanwhile are not counted any more.
	err := s.engine.Stop(trace.ReasonStop, "")
	// Frames on their way to the file are in the program's memory as well, which goes with the detach.
	if s.stream != nil && s.config.Buffer == 0 {
		s.stream.settle()
	}
	// Each is tried: one that cannot be detached from must not keep the others.
	for pid := range s.processes {
		if failed := s.target.Runner().Detach(pid); failed != nil && !errors.Is(failed, target.ErrNoProcess) {
			err = errors.Join(err, failed)
		}
	}
	s.lateEvents()
	s.mu.Lock()
	s.running = false
	clear(s.processes)
	s.mu.Unlock()
	err = errors.Join(err, s.finish(s.impatient(ctx)))
	s.result.Status, s.result.Feed = s.engine.Status(), s.Feed()
	if err == nil && s.result.End == Failed {
		err = errors.New(s.result.Status.Description)
	}
	if s.kept != nil {
		s.result.Feed.Frames, s.result.Feed.Bytes = s.kept.frames, s.kept.bytes
	}
	return err
}

// lateEvents reports what came while the processes were detached: ends, and code that could not be put back.
func (s *Session) lateEvents() {
	for {
		select {
		case ev := <-s.target.Runner().Events():
			if ev.Kind == target.Exited || ev.Kind == target.Terminated {
				s.gone(ev)
			}
		case err := <-s.target.Warnings():
			s.tell(Event{Kind: Warning, Err: err})
		default:
			for _, ev := range s.target.Untold() {
				s.gone(ev)
			}
			return
		}
	}
}

// impatient returns a channel that is closed when nobody waits any longer for those who read what is printed: the user has asked
// for the end, or it is they for whom the run has ended.
func (s *Session) impatient(ctx context.Context) <-chan struct{} {
	if why := s.engine.Status().Description; why != errStandstill.Error() && why != linux.ErrStoodStill.Error() {
		return ctx.Done()
	}
	now := make(chan struct{})
	close(now)
	return now
}

// finish completes the file, or writes it.
func (s *Session) finish(impatient <-chan struct{}) error {
	if s.stream == nil {
		return s.save()
	}
	file := s.stream.file
	if file == nil {
		return errors.Join(s.stream.closeUnless(impatient), s.save())
	}
	// All frames are in the file before its status is brought up to date.
	err := s.stream.closeUnless(impatient)
	s.result.Unread = errors.Is(err, errUnread)
	return errors.Join(err, file.Update(s.engine.Status(), s.tracepoints()), file.Close())
}

// kept is what a file has of the frames in the buffer that it has no room for.
type kept struct{ frames, bytes int64 }

// save writes the file of what the buffer holds, or of as much of it as there is room for: it is lost when this process ends.
func (s *Session) save() error {
	err := wholefile.Write(s.config.Output, func(w io.Writer) error { return s.engine.Save(w, s.description()) })
	if !sys.IsFull(err) {
		return err
	}
	whole := s.engine.NumFrames()
	// The disk is full: a file of the first frames is better than none.
	s.kept = &kept{}
	s.kept.frames, s.kept.bytes, err = output.Keep(s.config.Output, s.Header(), func(yield func(tfile.Frame) bool) {
		for frame := range s.engine.Frames() {
			if !yield(frame.Frame) {
				return
			}
		}
	})
	if err != nil {
		err = fmt.Errorf("there is room for %d of the %d frames: %w", s.kept.frames, whole, err)
	}
	return err
}

// Patience with a program that is to end: with one that may have got the signal by which the run was cancelled, with one that has
// been asked, and between two looks whether job control has stopped it.
const (
	ownAccord = 200 * time.Millisecond
	asked     = 2 * time.Second
	glance    = 100 * time.Millisecond
)

// await waits for a program that was launched and let go. It has no tracer any more, but is a child all the same.
func (s *Session) await(ctx context.Context) {
	program, err := os.FindProcess(s.main)
	if err != nil {
		return
	}
	ended := make(chan *os.ProcessState, 1)
	routine.Go(func() {
		state, _ := program.Wait() // none for a process that is gone
		ended <- state
	})
	cancelled := ctx.Done()
	var after <-chan time.Time
	// Without a tracer no event tells that job control has stopped the program; its state in /proc does.
	look := time.NewTicker(glance)
	defer look.Stop()
	for next := sys.SIGTERM; ; {
		select {
		case <-look.C:
			if state, err := sys.StatusField(s.main, "State"); err == nil && strings.HasPrefix(state, "T") {
				s.tell(Event{Kind: Suspended, PID: s.main, Signal: sys.SIGSTOP})
			}
		case state := <-ended:
			if state != nil {
				s.programEnded(state)
			}
			return
		case <-cancelled:
			// The terminal has sent its SIGINT to the whole process group: the program may be ending by itself.
			cancelled, after = nil, time.After(ownAccord)
		case <-after:
			_ = sys.Kill(s.main, next) // it fails for one that has ended
			// SIGTERM first, and SIGKILL for one that does not heed it.
			next, after = sys.SIGKILL, time.After(asked)
		}
	}
}

func (s *Session) programEnded(state *os.ProcessState) {
	s.result.ProgramEnded = true
	s.result.Code, s.result.Signal = sys.EndOf(state)
}
