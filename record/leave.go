package record

import (
	"context"
	"errors"
	"fmt"
	"io"

	"tracewell/internal/sys"
	"tracewell/internal/wholefile"
	"tracewell/record/output"
	"tracewell/target"
	"tracewell/tfile"
	"tracewell/trace"
)

// leave ends the run, lets go of all processes, and completes the file.
func (s *Session) leave(ctx context.Context) error {
	// A hit that waits for somebody who looks at its frame would keep the engine from being stopped.
	if s.stream != nil {
		s.stream.part()
	}
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
	s.gatherRepeats()
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
		case err := <-s.host.Warnings():
			s.tell(Event{Kind: Warning, Err: err})
		default:
			for _, ev := range s.host.Untold() {
				s.gone(ev)
			}
			return
		}
	}
}

// impatient returns a channel that is closed when nobody waits any longer for those who read what is printed: the user has asked
// for the end, or it is they for whom the run has ended.
func (s *Session) impatient(ctx context.Context) <-chan struct{} {
	if why := s.engine.Status().Description; why != errStandstill.Error() && why != target.ErrStoodStill.Error() {
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
	// All frames are in the file before its status is brought up to date.
	err := s.stream.closeUnless(impatient)
	s.result.Unread = errors.Is(err, errUnread)
	file := s.stream.file
	switch {
	case s.config.Buffer > 0:
		return errors.Join(err, s.save())
	case file == nil:
		return err
	}
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

// await waits for a program that was launched and let go.
func (s *Session) await(ctx context.Context) {
	if ended, known := s.host.Await(ctx, s.suspended); known {
		s.result.ProgramEnded, s.result.Code, s.result.Signal = true, ended.Code, ended.Signal
	}
}
