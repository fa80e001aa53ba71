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

// stop is a stop reply: a thread has stopped, or the process has ended.
type stop struct {
	kind   byte   // T and S: stopped; W: exited; X: killed
	number int    // a signal of GDB's numbers, or the exit status
	thread string // as the server writes it; empty in S, W and X
}

func (s stop) ended() bool { return s.kind == 'W' || s.kind == 'X' }

// parseStop parses a stop reply. T has two digits of a signal and then pairs "name:value;", among them registers that
// GDB would cache and the reason of the stop; only the thread is of use here. S, W and X have the number alone, W and
// X with ";process:PID" from servers of several processes.
func parseStop(text string) (stop, error) {
	if len(text) < 3 || !strings.ContainsRune("TSWX", rune(text[0])) {
		return stop{}, fmt.Errorf("the server says %.40q where the program has stopped", text)
	}
	head, rest, _ := strings.Cut(text[1:], ";")
	if text[0] == 'T' { // no separator follows the two digits
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

// takeOver brings the server into the mode for the run and stops the program. In non-stop mode the server answers
// packets while the program runs, so that frames can be fetched all the time. In all-stop mode it answers none until
// the next stop.
//
// The reply to "?" is a stop in all-stop mode. In non-stop mode it is the first of them, the others follow by
// vStopped, and OK says that everything runs.
func (s *Session) takeOver() error {
	if err := s.chooseMode(); err != nil {
		return err
	}
	first, err := s.server.ask("?")
	if err != nil {
		return fmt.Errorf("%w (%w)", errNoProgram, err)
	}
	if first != "OK" {
		// The reply has the form of a notification, and acknowledging it brings the other stopped threads.
		s.server.notified = append(s.server.notified[:0], first)
		stops, err := s.takeStops()
		if err != nil {
			return err
		}
		if stops[len(stops)-1].ended() {
			return errNoProgram // gdbserver --multi says W00 as long as nothing was launched
		}
	}
	if s.server.features.Has("QPassSignals") {
		return s.server.tell("QPassSignals:" + passed())
	}
	return nil
}

// chooseMode selects non-stop mode, or else extended mode: then gdbserver does not exit with the program, and the
// frames that it still holds can be fetched. A server without extended mode either may still work.
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

// passed lists the signals that the server hands to the program without a stop (QPassSignals), which spares two
// messages for each. SIGTRAP is what breakpoints stop with, and SIGINT what the server reports after an interrupt.
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

// takeStops returns the stop that a notification reported, and those that the server has queued behind it: each
// vStopped acknowledges one and is answered with the next, or with OK. The end of the program is not acknowledged
// here: gdbserver exits when it is, and frames that have not been fetched are lost.
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

// awaitStops waits for the program to stop. In non-stop mode the stop comes as a notification, which the client reads
// only along with a reply, so that some packet has to be sent again and again.
func (s *Session) awaitStops(patience time.Duration) ([]stop, error) {
	const pause = 2 * time.Millisecond
	if !s.nonStop {
		// The reply takes the way of a notification, so that takeStops is the only place that parses stops.
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
		if _, err := s.server.ask("qTStatus"); err != nil {
			return nil, err
		}
	}
	return s.takeStops()
}

// receiveStop waits for the stop reply of a program that was resumed in all-stop mode; with a zero time for ever.
// What the program prints comes as packets of its own in front of the reply.
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

// resume resumes threads by the actions of a vCont. In all-stop mode it does not wait for the reply, which is the
// next stop.
func (s *Session) resume(how string) error {
	if s.nonStop {
		return s.server.tell("vCont;" + how)
	}
	if err := s.server.conn.SetDeadline(time.Now().Add(replyPatience)); err != nil {
		return err
	}
	return s.server.client.Send([]byte("vCont;" + how))
}

// pass resumes the thread of a stop with the signal that it stopped for, but for SIGTRAP: that is the debugger's, and
// would kill the program. In all-stop mode the stop has stopped all threads, and the last action is for the others.
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

// breakpoint inserts (Z) or removes (z) a software breakpoint.
func (s *Session) breakpoint(letter string, at arch.Addr) error {
	return s.server.tell(fmt.Sprintf("%s0,%x,1", letter, uint64(at)))
}

// runTo resumes a program that has just been launched until it executes the instruction at an address. A breakpoint
// at the program's entry point is reached when the dynamic linker has loaded all libraries that the program names,
// and before main.
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

// stepOver resumes a thread that stands at a breakpoint: the breakpoint is removed, the thread makes one step, and
// the breakpoint is inserted again. Other threads may stop meanwhile; their stops are kept for later. In non-stop
// mode one may run past the place of the breakpoint during the step; libraries that it loads are found at the next
// stop there, since the whole list is read each time.
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
		return nil // there is no memory to insert a breakpoint into
	}
	if err := s.breakpoint("Z", at); err != nil {
		return err
	}
	if s.nonStop {
		return s.resume("c:" + thread) // the others were never stopped
	}
	return s.resume("c")
}

// interruptWith interrupts the program in all-stop mode when a context ends: nothing but a stop reply comes then, and
// the byte of an interrupt is all that the server reads. A failure to send it shows when the reply does not come.
func (s *Session) interruptWith(ctx context.Context) (stop func() bool) {
	return context.AfterFunc(ctx, func() {
		_ = s.server.client.Interrupt()
		// receiveStop has no limit of time; a program that cannot be interrupted must not hold us for ever.
		_ = s.server.conn.SetDeadline(time.Now().Add(replyPatience))
	})
}
