package remote

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"tracewell/arch"
	"tracewell/rsp"
	"tracewell/target"
)

// stop is what a server says of a thread that has stopped, or of a process that has ended.
type stop struct {
	kind   byte // T and S: stopped; W: exited; X: killed
	number int  // a signal of GDB's numbers, or the exit status
	thread string
}

func (s stop) ended() bool { return s.kind == 'W' || s.kind == 'X' }

// parseStop reads a stop reply; what else there is in it does not matter here.
func parseStop(text string) (stop, error) {
	if len(text) < 3 || !strings.ContainsRune("TSWX", rune(text[0])) {
		return stop{}, fmt.Errorf("the server says %.40q where the program has stopped", text)
	}
	head, rest, _ := strings.Cut(text[1:], ";")
	if text[0] == 'T' {
		head, rest = text[1:3], text[3:]
	}
	number, err := strconv.ParseUint(head, 16, 16)
	if err != nil {
		return stop{}, fmt.Errorf("the server says %.40q where the program has stopped", text)
	}
	s := stop{kind: text[0], number: int(number)}
	for item := range strings.SplitSeq(rest, ";") {
		if id, ok := strings.CutPrefix(item, "thread:"); ok {
			if _, _, err := rsp.ParseThreadID(id); err != nil {
				return stop{}, fmt.Errorf("the thread of a stop: %w", err)
			}
			s.thread = id
		}
	}
	return s, nil
}

// errNoProgram and errEnded say that there is nothing to trace.
var (
	errNoProgram = errors.New("the server has no program: start one there first")
	errEnded     = errors.New("the program ended before its own code could run")
)

// takeOver has the server tell what its program does: thread by thread, if it can, since packets are answered then while it runs.
// Where it cannot, the server is asked to stay when the program ends, because of the frames.
func (s *Session) takeOver() error {
	if err := s.chooseMode(); err != nil {
		return err
	}
	first, err := s.server.ask("?")
	if err != nil {
		return fmt.Errorf("%w (%w)", errNoProgram, err)
	}
	if first != "OK" {
		s.server.notified = append(s.server.notified[:0], first)
		stops, err := s.takeStops()
		if err != nil {
			return err
		}
		if stops[len(stops)-1].ended() {
			return errNoProgram
		}
	}
	if s.server.features.Has("QPassSignals") {
		return s.server.tell("QPassSignals:" + passed())
	}
	return nil
}

func (s *Session) chooseMode() error {
	if s.server.features.Has("QNonStop") && s.server.tell("QNonStop:1") == nil {
		s.nonStop = true
		return nil
	}
	if s.config.MaxFrames > 0 {
		s.warnings = append(s.warnings, errors.New("the server has no non-stop mode: frames are counted only when the program stops"))
	}
	_, err := s.server.exchange("!")
	return err
}

// passed lists the signals that do not stop the program: all but those of a breakpoint and of an interrupt.
func passed() string {
	const highest = 150
	var all []string
	for n := target.Signal(1); n <= highest; n++ {
		if n != target.SignalTrap && n != target.SignalInt {
			all = append(all, strconv.FormatInt(int64(n), 16))
		}
	}
	return strings.Join(all, ";")
}

// mostStops is how many threads may stop at once.
const mostStops = 1 << 13

// takeStops returns what has been notified, with what the server has to tell besides. The end of the program is not acknowledged:
// gdbserver ends with that, and with it the frames.
func (s *Session) takeStops() (stops []stop, err error) {
	if len(s.server.notified) == 0 {
		return nil, nil
	}
	text := s.server.notified[0]
	s.server.notified = nil
	for len(stops) < mostStops {
		next, err := parseStop(text)
		if err != nil {
			return nil, err
		}
		if stops = append(stops, next); next.ended() || !s.nonStop {
			return stops, nil
		}
		if text, err = s.server.ask("vStopped"); err != nil || text == "OK" {
			return stops, err
		}
	}
	return nil, errors.New("there is no end to the stops that the server tells of")
}

// awaitStops waits for the program to stop.
func (s *Session) awaitStops(patience time.Duration) ([]stop, error) {
	const pause = 2 * time.Millisecond
	if !s.nonStop {
		text, err := s.receiveStop(time.Now().Add(patience))
		s.server.notified = []string{text}
		if err != nil {
			return nil, err
		}
		return s.takeStops()
	}
	for start := time.Now(); len(s.server.notified) == 0; time.Sleep(pause) {
		if time.Since(start) > patience {
			return nil, fmt.Errorf("the program has not stopped for %v", patience)
		}
		if _, err := s.server.ask("qTStatus"); err != nil { // notifications come along with replies
			return nil, err
		}
	}
	return s.takeStops()
}

// receiveStop waits for the stop reply of a program that was resumed in all-stop mode; with a zero time for ever.
func (s *Session) receiveStop(limit time.Time) (string, error) {
	if err := s.server.conn.SetDeadline(limit); err != nil {
		return "", err
	}
	for {
		reply, err := s.server.client.Receive()
		if err != nil {
			return "", fmt.Errorf("%w while the program ran: %w", errGone, err)
		}
		if text := string(reply); !isConsole(text) {
			return text, nil
		}
	}
}

// resume lets threads go on as vCont says. In all-stop mode the reply is the next stop.
func (s *Session) resume(how string) error {
	if s.nonStop {
		return s.server.tell("vCont;" + how)
	}
	if err := s.server.conn.SetDeadline(time.Now().Add(replyPatience)); err != nil {
		return err
	}
	return s.server.client.Send([]byte("vCont;" + how))
}

// pass lets the thread of a stop go on, with its signal.
func (s *Session) pass(st stop) error {
	how := "c"
	if st.number != 0 && st.number != int(target.SignalTrap) {
		how = fmt.Sprintf("C%02x", st.number)
	}
	if st.thread != "" {
		how += ":" + st.thread
		if !s.nonStop {
			how += ";c"
		}
	}
	return s.resume(how)
}

// startPatience is how long a program may take until its own code runs.
const startPatience = 60 * time.Second

// breakpoint sets or removes a breakpoint.
func (s *Session) breakpoint(letter string, at arch.Addr) error {
	return s.server.tell(fmt.Sprintf("%s0,%x,1", letter, uint64(at)))
}

// runTo lets a program that has just been started run to an address.
func (s *Session) runTo(at arch.Addr) error {
	if err := s.breakpoint("Z", at); err != nil {
		return err
	}
	if err := s.resume("c"); err != nil {
		return err
	}
	for {
		stops, err := s.awaitStops(startPatience)
		if err != nil {
			return err
		}
		for _, st := range stops {
			switch {
			case st.ended():
				return errEnded
			case st.number == int(target.SignalTrap):
				return s.breakpoint("z", at)
			}
			if err := s.pass(st); err != nil {
				return err
			}
		}
	}
}

// stepPatience is how long a single instruction may take.
const stepPatience = 10 * time.Second

// stepOver lets a thread go on behind a breakpoint. Other threads may stop meanwhile; what they have stopped for is kept.
func (s *Session) stepOver(thread string, at arch.Addr) error {
	if err := s.breakpoint("z", at); err != nil {
		return err
	}
	if err := s.resume("s:" + thread); err != nil {
		return err
	}
	for done := false; !done; {
		stops, err := s.awaitStops(stepPatience)
		if err != nil {
			return err
		}
		for _, st := range stops {
			if st.thread == thread || st.ended() {
				done = true
			}
			if st.thread != thread {
				s.kept = append(s.kept, st)
			}
		}
	}
	if len(s.kept) > 0 && s.kept[len(s.kept)-1].ended() {
		return nil
	}
	if err := s.breakpoint("Z", at); err != nil {
		return err
	}
	if s.nonStop {
		return s.resume("c:" + thread)
	}
	return s.resume("c")
}

// interruptWith has the program stop in all-stop mode when a context ends. A failure shows in what is received, too.
func (s *Session) interruptWith(ctx context.Context) (stop func() bool) {
	return context.AfterFunc(ctx, func() {
		_ = s.server.client.Interrupt()
		_ = s.server.conn.SetDeadline(time.Now().Add(replyPatience))
	})
}
