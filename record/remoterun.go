package record

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"tracewell/arch/amd64"
	"tracewell/target/linux"
	"tracewell/tfile"
	"tracewell/trace"
)

// pollEvery is how often a server is asked what there is.
const pollEvery = 50 * time.Millisecond

// Run traces until the run ends, fetches what is left of the frames, and lets go of the program. If it is cancelled and
// Config.Disconnected is set, the run goes on, for whoever connects next, and the file has what was fetched so far.
func (r *Remote) Run(ctx context.Context) (Result, error) {
	file, err := createFile(r.config.Output, r.Header())
	if err != nil {
		return r.result, err
	}
	r.stream.file = file
	go r.stream.run()
	err = r.trace(ctx)
	left := err == nil && r.result.End == Cancelled && r.config.Disconnected
	if !left {
		err = errors.Join(err, r.stop())
	}
	err = errors.Join(err, r.look(left), r.stream.close())
	err = errors.Join(err, file.update(r.result.Status, r.defined), file.close())
	if !left && !r.result.ProgramEnded {
		_, _ = r.client.Exchange(fmt.Sprintf("D;%x", r.pid)) // the connection may be what has failed
	}
	r.result.Feed = r.Feed()
	r.result.Feed.Running = left
	return r.result, err
}

// trace begins the run and follows it to its end.
func (r *Remote) trace(ctx context.Context) error {
	if r.config.Disconnected {
		if _, err := r.ask("QTDisconnected:1"); err != nil {
			return err
		}
	}
	if _, err := r.ask("QTStart"); err != nil {
		return err
	}
	if r.config.Events != nil {
		r.config.Events(Event{Kind: Attached, PID: r.pid, Path: r.process.path})
		for _, w := range r.warnings {
			r.config.Events(Event{Kind: Warning, Err: w})
		}
	}
	if err := r.resume(); err != nil {
		return err
	}
	if r.config.Duration > 0 {
		bounded, cancel := context.WithTimeoutCause(ctx, r.config.Duration, errTimeUp)
		defer cancel()
		ctx = bounded
	}
	if r.nonStop {
		return r.poll(ctx)
	}
	return r.wait(ctx)
}

var errTimeUp = errors.New("time is up")

// endBy is the end that a context brings about.
func endBy(ctx context.Context) End {
	if errors.Is(context.Cause(ctx), errTimeUp) {
		return TimeUp
	}
	return Cancelled
}

// poll looks after a program that runs in non-stop mode.
func (r *Remote) poll(ctx context.Context) error {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			r.result.End = endBy(ctx)
			return nil
		case <-tick.C:
		}
		if err := r.look(false); err != nil {
			return err
		}
		if len(r.stops) > 0 {
			stop, err := r.stopped()
			if err != nil || r.over(stop) {
				return err
			}
			if err := r.resume(); err != nil {
				return err
			}
		}
		if done := r.finished(); done {
			return nil
		}
	}
}

// finished reports whether the server has ended the run, or there are frames enough.
func (r *Remote) finished() bool {
	switch st := r.result.Status; {
	case r.config.MaxFrames > 0 && r.taken >= r.config.MaxFrames:
		r.result.End = EnoughFrames
	case st.Running:
		return false
	case st.Reason == trace.ReasonFull:
		r.result.End = BufferFull
	case st.Reason == trace.ReasonPassCount:
		r.result.End = PassCount
	default:
		r.result.End = Failed
	}
	return true
}

// wait waits for a program that runs in all-stop mode, in which nothing can be asked meanwhile.
func (r *Remote) wait(ctx context.Context) error {
	defer context.AfterFunc(ctx, func() { _ = r.client.Interrupt() })() // a failure shows in the reply, too
	for {
		stop, err := r.reply()
		if err != nil || r.over(stop) {
			return err
		}
		if ctx.Err() != nil {
			r.result.End = endBy(ctx)
			return nil
		}
		if err := r.look(false); err != nil || r.finished() {
			return err
		}
		if err := r.resume(); err != nil {
			return err
		}
	}
}

// over takes note of a stop reply that tells of the end of the program, and reports whether it does.
func (r *Remote) over(stop string) bool {
	if stop == "" || stop[0] != 'W' && stop[0] != 'X' {
		return false
	}
	number, _, _ := strings.Cut(stop[1:], ";")
	r.result.End, r.result.ProgramEnded = ProgramEnded, true
	if stop[0] == 'W' {
		code, _ := strconv.ParseUint(number, 16, 16)
		r.result.Code = int(code)
	} else {
		r.result.Signal = linux.KernelSignal(passedOn(number))
	}
	return true
}

// stop ends the run on the server. Without a program gdbserver 13.1 dies of being told so.
func (r *Remote) stop() error {
	if !r.result.ProgramEnded {
		if _, err := r.ask("QTStop"); err != nil {
			return err
		}
	}
	r.config.Circular = false // what is in the buffer now stays where it is
	return nil
}

// look learns the status and the counts, and fetches what has come.
func (r *Remote) look(partial bool) error {
	reply, err := r.ask("qTStatus")
	if err != nil {
		return err
	}
	if r.result.Status, err = trace.ParseStatus(strings.TrimPrefix(reply, "T")); err != nil {
		return err
	}
	for i := range r.defined {
		d := &r.defined[i]
		reply, err := r.client.Exchange(fmt.Sprintf("qTP:%x:%x", int(d.Number), uint64(d.Addr)))
		if err != nil {
			return err
		}
		_, _ = fmt.Sscanf(reply, "V%x:%x", &d.Hits, &d.Usage) // a server that counts nothing has no counts
	}
	if !r.config.Circular && !partial {
		err = r.fetch()
	}
	r.count()
	return err
}

// fetch reads the server's buffer from where it was read to before.
func (r *Remote) fetch() error {
	for {
		reply, err := r.client.Exchange(fmt.Sprintf("qTBuffer:%x,%x", r.fetched, r.chunk/2))
		if err != nil {
			return err
		}
		if reply == "l" || reply == "" {
			return nil
		}
		b, err := hex.DecodeString(reply)
		if err != nil {
			return fmt.Errorf("qTBuffer: the server answers %.20q", reply)
		}
		r.fetched += int64(len(b))
		if err := r.take(b); err != nil {
			return err
		}
	}
}

// take gives the whole frames to the stream.
func (r *Remote) take(b []byte) error {
	r.part = append(r.part, b...)
	for len(r.part) >= tfile.FrameHeader {
		length := frameLength(amd64.ISA.Order, r.part)
		if len(r.part) < length {
			break
		}
		if r.config.MaxFrames == 0 || r.taken < r.config.MaxFrames {
			if err := r.stream.Take(r.part[:length]); err != nil {
				return err
			}
			r.taken++
			r.made[trace.Number(amd64.ISA.Order.Uint16(r.part))]++
		}
		r.part = append(r.part[:0], r.part[length:]...)
	}
	return nil
}

// count makes the feed.
func (r *Remote) count() {
	f := Feed{At: time.Now(), Running: r.result.Status.Running, Processes: 1}
	for _, t := range r.points {
		p := PointFeed{Number: t.Number, At: t.Location.Value, Locations: t.locations, Pending: t.pending != nil}
		for _, d := range r.defined {
			if d.Number == t.Number {
				p.Hits, p.Bytes = p.Hits+d.Hits, p.Bytes+d.Usage
			}
		}
		p.Frames = r.made[t.Number]
		f.Points = append(f.Points, p)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.feed = f
}

// Feed tells how things stand. It may be called by any goroutine.
func (r *Remote) Feed() Feed {
	r.mu.Lock()
	f := r.feed
	r.mu.Unlock()
	f.Frames, f.Bytes, f.Queued, f.Waits = r.stream.counts()
	return f
}

// Header is what the file begins with.
func (r *Remote) Header() tfile.Header {
	tracepoints := slices.Clone(r.defined)
	slices.SortStableFunc(tracepoints, func(a, b trace.Tracepoint) int {
		return cmp.Or(cmp.Compare(b.Number, a.Number), cmp.Compare(b.Addr, a.Addr))
	})
	variables := append([]trace.Variable{{Number: trace.Timestamp, Builtin: true, Name: trace.TimestampName}}, r.compiler.definitions()...)
	return tfile.Header{
		Order:        amd64.ISA.Order,
		RegisterSize: r.layout.Size,
		Status: &trace.Status{
			Reason: trace.ReasonUnknown, Free: -1, Size: -1, StartTime: uint64(time.Now().UnixMicro()), User: r.config.User, Notes: r.config.Notes,
		},
		Variables:   variables,
		Tracepoints: tracepoints,
		Description: describe(r.description, r.objects),
	}
}
