package trace

import (
	"fmt"
	"math"
	"strings"

	"tracewell/rsp"
)

// ParseStatus reads the status of a trace run as the reply to qTStatus has it after its "T" and the "status" line of a
// trace file after its keyword: 0 or 1 for running, then items ";key:value". Counts and times are hexadecimal, texts are
// pairs of hexadecimal digits. Items whose key is unknown are passed over, as the manual asks; one without a colon is an
// error, since GDB fails on it as well. Of a key that comes twice the last counts. What is not told is -1 for a count and
// empty or false for everything else. Errors wrap *rsp.SyntaxError.
func ParseStatus(text string) (Status, error) {
	s := newScanner("trace status", text)
	st := Status{Frames: -1, Created: -1, Free: -1, Size: -1}
	st.Running = s.letter("01") == '1'
	for s.Accept(';') {
		s.statusItem(&st)
	}
	if err := s.finish(); err != nil {
		return Status{}, err
	}
	return st, nil
}

func (s scanner) statusItem(st *Status) {
	key, _, ok := strings.Cut(s.item(), ":")
	if !ok {
		s.Fail("an item key:value")
		return
	}
	s.Take(len(key) + 1)
	if value := statusValues[key]; value != nil {
		value(s, st)
	} else {
		s.Until(';')
	}
}

// item is what is unread of the current item.
func (s scanner) item() string {
	item, _, _ := strings.Cut(s.text[s.Pos():], ";")
	return item
}

// statusValues reads the values of the keys that GDB 13 knows.
var statusValues = map[string]func(scanner, *Status){
	string(ReasonUnknown):      plainReason(ReasonUnknown),
	string(ReasonNotRun):       plainReason(ReasonNotRun),
	string(ReasonFull):         plainReason(ReasonFull),
	string(ReasonDisconnected): plainReason(ReasonDisconnected),
	string(ReasonPassCount):    describedReason(ReasonPassCount),
	string(ReasonStop):         describedReason(ReasonStop),
	string(ReasonError):        describedReason(ReasonError),

	"tframes":  func(s scanner, st *Status) { st.Frames = s.count() },
	"tcreated": func(s scanner, st *Status) { st.Created = s.count() },
	"tfree":    func(s scanner, st *Status) { st.Free = s.count() },
	"tsize":    func(s scanner, st *Status) { st.Size = s.count() },

	"circular":  func(s scanner, st *Status) { st.Circular = s.HexField() != 0 },
	"disconn":   func(s scanner, st *Status) { st.Disconnected = s.HexField() != 0 },
	"starttime": func(s scanner, st *Status) { st.StartTime = s.HexField() },
	"stoptime":  func(s scanner, st *Status) { st.StopTime = s.HexField() },
	"username":  func(s scanner, st *Status) { st.User = s.hexString() },
	"notes": func(s scanner, st *Status) {
		st.Notes = s.hexString()
		s.Accept(':') // gdbserver 13.1 ends its reply in "notes:<text>:"
	},
}

func (s scanner) count() int64 { return int64(s.HexUpTo(math.MaxInt64)) }

// plainReason is a reason that comes with a number of no meaning.
func plainReason(r StopReason) func(scanner, *Status) {
	return func(s scanner, st *Status) {
		st.Reason, st.Description, st.Tracepoint = r, "", 0
		s.Until(';')
	}
}

// describedReason is a reason that comes as "[<description>:]<tracepoint>".
func describedReason(r StopReason) func(scanner, *Status) {
	return func(s scanner, st *Status) {
		st.Reason, st.Description = r, ""
		if strings.Contains(s.item(), ":") {
			st.Description = s.hexString()
			s.Literal(':')
		}
		st.Tracepoint = Number(s.HexUpTo(math.MaxInt32))
	}
}

// String gives the status as ParseStatus reads it, in the order in which GDB 13.1 writes a trace file and, as it does,
// without the items that would say what a reader assumes anyway.
//
// tstop and terror always have the field of their description, empty or not: without it GDB 13.1 dies at the next tsave
// (tstop) or at once of an internal error (terror).
func (st Status) String() string {
	dst := st.appendState(nil)
	dst = appendFlag(dst, "disconn", st.Disconnected)
	dst = appendFlag(dst, "circular", st.Circular)
	dst = appendTime(dst, "starttime", st.StartTime)
	dst = appendTime(dst, "stoptime", st.StopTime)
	dst = appendNote(dst, "notes", st.Notes)
	dst = appendNote(dst, "username", st.User)
	return string(dst)
}

// Reply gives the status as a stub replies to qTStatus, without the T in front: like String, but with all items even where
// they say no, never or nothing, in the order of gdbserver 13.1.
func (st Status) Reply() string {
	dst := st.appendState(nil)
	dst = fmt.Appendf(dst, ";circular:%d;disconn:%d", digit(st.Circular), digit(st.Disconnected))
	dst = fmt.Appendf(dst, ";starttime:%x;stoptime:%x", st.StartTime, st.StopTime)
	dst = fmt.Appendf(dst, ";username:%x;notes:%x", st.User, st.Notes)
	return string(dst)
}

// appendState appends whether a run is on, why none is, and the counts that are known.
func (st Status) appendState(dst []byte) []byte {
	dst = fmt.Appendf(dst, "%d", digit(st.Running))
	dst = st.appendReason(dst)
	dst = appendCount(dst, "tframes", st.Frames)
	dst = appendCount(dst, "tcreated", st.Created)
	dst = appendCount(dst, "tfree", st.Free)
	return appendCount(dst, "tsize", st.Size)
}

func digit(on bool) int {
	if on {
		return 1
	}
	return 0
}

func (st Status) appendReason(dst []byte) []byte {
	switch st.Reason {
	case "":
		return dst
	case ReasonStop, ReasonError:
		return fmt.Appendf(dst, ";%s:%x:%x", st.Reason, st.Description, int(st.Tracepoint))
	case ReasonPassCount:
		return fmt.Appendf(dst, ";%s:%x", st.Reason, int(st.Tracepoint))
	}
	return fmt.Appendf(dst, ";%s:0", st.Reason)
}

func appendCount(dst []byte, key string, n int64) []byte {
	if n < 0 {
		return dst
	}
	return fmt.Appendf(dst, ";%s:%x", key, n)
}

func appendFlag(dst []byte, key string, on bool) []byte {
	if !on {
		return dst
	}
	return fmt.Appendf(dst, ";%s:1", key)
}

func appendTime(dst []byte, key string, t uint64) []byte {
	if t == 0 {
		return dst
	}
	return rsp.AppendHex(fmt.Appendf(dst, ";%s:", key), t)
}

func appendNote(dst []byte, key, text string) []byte {
	if text == "" {
		return dst
	}
	return fmt.Appendf(dst, ";%s:%x", key, text)
}
