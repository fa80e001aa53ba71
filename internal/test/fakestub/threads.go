package fakestub

import (
	"fmt"
	"strconv"
	"strings"

	"tracewell/rsp"
)

// process is the one process that there is.
const process = 1

// threadID is a hart's.
func (ss *session) threadID(hart int) string {
	if ss.quirks.NoThreads {
		return "0"
	}
	digits := ss.quirks.ThreadDigits
	id := string(rsp.AppendHexPadded(nil, uint64(hart+1), digits))
	if ss.multiprocess {
		return "p" + string(rsp.AppendHexPadded(nil, process, digits)) + "." + id
	}
	return id
}

// threadNamed finds the hart of a thread-id, or what that has in place of one.
func (ss *session) threadNamed(text string) (int, bool) {
	s := rsp.NewScanner(text)
	t := s.Thread()
	switch {
	case s.End() != nil || t.PID > process:
		return 0, false
	case t.TID == rsp.AllThreads:
		return allHarts, true
	case t.TID == rsp.AnyThread:
		return anyHart, true
	}
	return t.TID - 1, t.TID <= len(ss.machine.harts)
}

// selectThread is H.
func (ss *session) selectThread(args string) string {
	if args == "" {
		return failed
	}
	id, ok := ss.threadNamed(args[1:])
	switch {
	case !ok:
		return tooLong
	case args[0] == 'c':
		ss.resumed = id
	case id >= 0:
		ss.current = id
	}
	if id < 0 && ss.quirks.SelectFails { // which it does all the same
		return failed
	}
	return "OK"
}

func (ss *session) alive(args string) string {
	if id, ok := ss.threadNamed(args); ok && id >= 0 {
		return "OK"
	}
	return failed
}

func (ss *session) currentThread(string) string { return "QC" + ss.threadID(ss.current) }

// firstThread and nextThread list threads, one in each reply.
func (ss *session) firstThread(string) string {
	ss.listed = 0
	return ss.nextThread("")
}

func (ss *session) nextThread(string) string {
	if ss.quirks.NoThreads || ss.listed >= len(ss.machine.harts) {
		return "l"
	}
	text := "m" + ss.threadID(ss.listed)
	for ss.listed++; ss.quirks.ThreadsAtOnce && ss.listed < len(ss.machine.harts); ss.listed++ {
		text += "," + ss.threadID(ss.listed)
	}
	return text
}

func (ss *session) threadName(args string) string {
	id, ok := ss.threadNamed(args)
	if !ok || id < 0 {
		return failed
	}
	return hexText(fmt.Sprintf("hart %d", id))
}

// object answers qXfer: parts of a document.
func object(document func(*session) string) func(*session, string) string {
	return func(ss *session, args string) string {
		at, n, ok := extent(args)
		text := document(ss)
		switch {
		case !ok:
			return failed
		case at >= uint64(len(text)):
			return "l"
		}
		text = text[at:]
		if n = min(n, ss.quirks.packetSize()-1); n >= len(text) {
			return "l" + text
		}
		return "m" + text[:n]
	}
}

func (ss *session) features() string { return string(ss.description) }

func (ss *session) memoryMap() string {
	return fmt.Sprintf(`<?xml version="1.0"?><memory-map><memory type="flash" start="%#x" length="%#x"><property name="blocksize">0x400</property></memory>`+
		`<memory type="ram" start="%#x" length="%#x"/></memory-map>`, FlashAt, FlashSize, RAMAt, RAMSize)
}

func (ss *session) threads() string {
	var b strings.Builder
	b.WriteString("<?xml version=\"1.0\"?>\n<threads>\n")
	for id := range ss.machine.harts {
		if !ss.quirks.NoThreads {
			b.WriteString(`<thread id="` + ss.threadID(id) + `" core="` + strconv.Itoa(id) + `">hart ` + strconv.Itoa(id) + "</thread>\n")
		}
	}
	return b.String() + "</threads>\n"
}
