package stub

import (
	"errors"
	"fmt"

	"tracewell/rsp"
	"tracewell/rsp/reply"
	"tracewell/rsp/request"
	"tracewell/target"
)

var replyOK = []byte("OK")

// errLater is what the handler of a packet returns whose reply comes with an event, or never.
var errLater = errors.New("the reply comes later")

// errFrameSelected refuses what would change the program while the client looks at a frame.
var errFrameSelected = errors.New("a traceframe is selected")

// errorReply is the reply that tells err. Packets whose readers in GDB take the text for data get a number instead,
// unless the client announced that it reads error texts everywhere (GDB 16 does).
func (x *session) errorReply(p *packet, err error) []byte {
	switch {
	// The empty reply: the packet is known but this target lacks what it needs.
	case errors.Is(err, target.ErrUnsupported):
		return nil
	case p.flags&numericErrors != 0 && !x.errorStrings && !x.client.Has(request.ErrorMessages):
		return []byte("E01")
	}
	if syntax, bare := err.(*rsp.SyntaxError); bare { // others say already where they come from
		err = fmt.Errorf("%s packet: %w", p.Name(), syntax)
	}
	if x.errorStrings {
		return numberedError(err)
	}
	return errorText(err)
}

// errorText is E. and the text of err. GDB does not undo escapes in it, so what would be escaped, or is no printable
// ASCII, is replaced, and the $ before a name left out.
func errorText(err error) []byte {
	reply := []byte("E.")
	for _, c := range []byte(err.Error()) {
		switch {
		case c == '$':
		case c == '\n': // between errors that belong together
			reply = append(reply, "; "...)
		case c < ' ' || c > '~' || c == '#' || c == '*' || c == '}':
			reply = append(reply, '?')
		default:
			reply = append(reply, c)
		}
	}
	return reply
}

// list is a reply that a client fetches in parts: first with one packet, then on with another.
type list struct {
	items []string
	next  int
}

// pages is a list of items in as few replies as hold them, each of up to room bytes, or of one item that is longer.
func pages[T any](form *reply.Form[[]T], all []T, room int) (l list) {
	first, size := 0, 0
	for i := range all {
		own := len(form.Append(nil, all[i:i+1])) // the m counts for the comma that is in its place in the others
		if size += own; size > room && i > first {
			l.items = append(l.items, string(form.Append(nil, all[first:i])))
			first, size = i, own
		}
	}
	if first < len(all) {
		l.items = append(l.items, string(form.Append(nil, all[first:])))
	}
	return l
}

// advance returns the next item, or l behind the last.
func (l *list) advance() []byte {
	if l.next == len(l.items) {
		return []byte("l")
	}
	l.next++
	return []byte(l.items[l.next-1])
}
