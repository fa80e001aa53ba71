package remote

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"tracewell/rsp/client"
	"tracewell/rsp/request"
	"tracewell/target"
)

// A board that is reset loads its program into RAM anew, with which breakpoints vanish that lie in memory; and comparators are
// cleared. A reset by a monitor command is known. Any other shows where memory no longer has what was written there: that is looked
// at when the program stops of itself or is interrupted, and before a written breakpoint is removed, which must not bring old code
// back.

// hasVanished reports whether the breakpoint of a place is certainly not in memory any more. Where the stub does not show its
// breakpoints nobody can tell.
func (t *Target) hasVanished(p *place) bool {
	if !p.inserted || len(p.there) == 0 || t.choose(t.current) != nil {
		return false
	}
	now := make([]byte, len(p.there))
	n, err := t.readPart(p.addr, now)
	return err == nil && n == len(now) && !bytes.Equal(now, p.there)
}

// renew puts breakpoints in again that have vanished, or all of them, and tells the client of it: hits are missing since then. What
// cannot be inserted ends a trace run that needs it.
func (t *Target) renew(all bool) error {
	var names []string
	var errs []error
	for _, p := range t.places {
		if !p.inserted || !all && !t.hasVanished(p) {
			continue
		}
		// The stub may believe that it has them still, or know nothing of them.
		if err := t.lift(p); client.IsLost(err) {
			return err
		}
		p.inserted, p.written = false, false
		names = append(names, p.addr.String())
		if err := t.insert(p); err != nil {
			errs = append(errs, fmt.Errorf("the breakpoint at %s cannot be inserted again: %w", p.addr, err))
		}
	}
	for w := range t.watches {
		if all {
			_ = t.zWatch(request.RemoveBreak, w)
			errs = append(errs, t.zWatch(request.InsertBreak, w))
		}
	}
	if err := errors.Join(errs...); err != nil {
		t.endRun(err)
		t.uninstallAll()
		return err
	}
	if len(names) > 0 && !all {
		slices.Sort(names)
		t.say("Breakpoints had vanished from memory and are inserted again: " + strings.Join(names, ", ") + ". Hits may be missing.\n")
	}
	return nil
}

// resets reports whether a packet is a monitor command that may reset the board: "reset halt", "system_reset", "mon reset".
func resets(packet []byte) bool {
	text, ok := strings.CutPrefix(string(packet), "qRcmd,")
	return ok && strings.Contains(text, resetWord)
}

// resetWord is "reset" as the packet has it.
const resetWord = "7265736574"

// isUnexplained reports whether an event is one at which vanished breakpoints are looked for: an interrupt, a signal, or a trap
// where nothing is inserted, as of a board that is reset while a hit is dealt with. Of hits and steps there are too many.
func isUnexplained(ev target.Event) bool {
	return ev.Kind == target.Stopped && ev.Reason == target.ReasonNone
}
