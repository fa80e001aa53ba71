package fakestub

import (
	"strings"

	"tracewell/rsp"
)

// Errors that are all that most stubs ever say.
const (
	failed  = "E01"
	tooLong = "E22"
	noRoom  = "E0E" // for another breakpoint
)

// command is a packet that is answered at once. missing, if there is one, says which stubs do not know it.
type command struct {
	prefix  string
	missing func(*Quirks) bool
	answer  func(ss *session, args string) string
}

// commands are tried in order; the first whose prefix fits is the one.
var commands []command

func init() { // the functions in it look at the table again
	commands = []command{
		{"qSupported", func(q *Quirks) bool { return q.NoSupported }, (*session).supported},
		{"QStartNoAckMode", func(q *Quirks) bool { return q.KeepsAcks || q.NoSupported }, (*session).endAcks},
		{"qXfer:features:read:target.xml:", func(q *Quirks) bool { return q.NoFeatures }, object((*session).features)},
		{"qXfer:memory-map:read::", func(q *Quirks) bool { return q.NoMemoryMap }, object((*session).memoryMap)},
		{"qXfer:threads:read::", func(q *Quirks) bool { return q.NoThreadXfer }, object((*session).threads)},
		{"qfThreadInfo", func(q *Quirks) bool { return q.NoThreadList }, (*session).firstThread},
		{"qsThreadInfo", func(q *Quirks) bool { return q.NoThreadList }, (*session).nextThread},
		{"qThreadExtraInfo,", func(q *Quirks) bool { return q.NoThreads }, (*session).threadName},
		{"qC:", nil, nothing},
		{"qCRC:", func(q *Quirks) bool { return q.NoChecksum }, (*session).checksum},
		{"qC", nil, (*session).currentThread},
		{"qAttached", nil, constantly("1")},
		{"qSymbol:", func(q *Quirks) bool { return q.NoSymbols }, constantly("OK")},
		{"qRcmd,", func(q *Quirks) bool { return q.NoMonitor }, (*session).monitor},
		{"H", nil, (*session).selectThread},
		{"T", nil, (*session).alive},
		{"?", nil, (*session).query},

		{"g", nil, (*session).readBlock},
		{"G", nil, (*session).writeBlock},
		{"p", func(q *Quirks) bool { return q.NoRegister }, (*session).readRegister},
		{"P", func(q *Quirks) bool { return q.NoWriteRegister }, (*session).writeRegister},
		{"m", nil, (*session).readMemory},
		{"M", nil, (*session).writeMemory},
		{"x", func(q *Quirks) bool { return !q.BinaryRead }, (*session).readBinary},
		{"X", func(q *Quirks) bool { return q.NoBinaryWrite }, (*session).writeBinary},
		{"vFlashErase:", noFlash, (*session).eraseFlash},
		{"vFlashWrite:", noFlash, (*session).writeFlash},
		{"vFlashDone", noFlash, (*session).flashDone},
		{"Z", nil, (*session).insertBreakpoint},
		{"z", nil, (*session).removeBreakpoint},

		{"vCont?", func(q *Quirks) bool { return q.NoVCont }, (*session).verbs},
		{"!", func(q *Quirks) bool { return q.NoRestart }, constantly("OK")},
		{"D", nil, (*session).detach},
	}
}

func nothing(*session, string) string { return "" }

func noFlash(q *Quirks) bool { return q.NoFlash }

func constantly(reply string) func(*session, string) string {
	return func(*session, string) string { return reply }
}

// stoppedOnly are the packets that need a machine that does not run.
const stoppedOnly = "gGpPHTR"

// packet takes a packet.
func (ss *session) packet(payload []byte) {
	plain, err := rsp.Unescape(nil, payload)
	packet := string(plain)
	if ss.silent {
		return
	}
	kind := ss.due(packet)
	if kind == Reset {
		ss.reset()
		return
	}
	if !ss.link.noAck {
		ss.link.write([]byte("+"))
	}
	ss.note("> " + packet)
	if kind == Bogus || err != nil {
		ss.reply(failed)
		return
	}
	ss.spoil = kind
	ss.perform(packet)
	if ss.spoil == ResetAfter && ss.running { // no reply is due that could be spoiled
		ss.reset()
	}
}

// perform executes a packet, and answers it unless its reply is the next stop.
func (ss *session) perform(packet string) {
	if packet == "" {
		ss.reply("")
		return
	}
	if text, ok := ss.special(packet); ok {
		ss.reply(text)
		return
	}
	ss.machine.mu.Lock()
	text, now, ok := ss.resumption(packet)
	ss.machine.mu.Unlock()
	switch {
	case ok && now:
		ss.reply(text)
		return
	case ok && ss.quirks.ConsoleOnRun:
		ss.print()
		return
	case ok:
		return
	case packet == "k":
		ss.letGo(ss.quirks.KillResumes)
		return
	case packet[0] == 'R' && !ss.quirks.NoRestart && !ss.running:
		ss.machine.mu.Lock()
		ss.machine.reset()
		ss.machine.mu.Unlock()
		return
	case ss.running && strings.IndexByte(stoppedOnly, packet[0]) >= 0:
		ss.reply(failed)
		return
	}
	for _, c := range commands {
		if args, ok := strings.CutPrefix(packet, c.prefix); ok {
			text = ""
			if c.missing == nil || !c.missing(&ss.quirks) {
				ss.machine.mu.Lock()
				text = c.answer(ss, args)
				ss.machine.mu.Unlock()
			}
			ss.first()
			if !ss.over || packet[0] == 'D' {
				ss.reply(text)
			}
			ss.afterwards(packet)
			return
		}
	}
	ss.reply("")
}

// special finds a reply among those that are given for packets as they stand.
func (ss *session) special(packet string) (reply string, ok bool) {
	longest := ""
	for prefix, text := range ss.quirks.Replies {
		if strings.HasPrefix(packet, prefix) && len(prefix) >= len(longest) {
			longest, reply, ok = prefix, text, true
		}
	}
	return reply, ok
}

// first sends what comes before a reply: the text of a monitor command, and the stop that one has had noticed.
func (ss *session) first() {
	if ss.ahead != "" {
		ss.link.send(ss.link.frame([]byte(ss.ahead)))
		ss.ahead = ""
	}
	if ss.polled {
		ss.polled = false
		ss.look()
	}
}

// afterwards does what has to wait until a packet is answered.
func (ss *session) afterwards(packet string) {
	if packet[0] == 'D' {
		ss.letGo(true)
	}
}

// letGo ends the connection. The machine runs on for nobody, or ends with it.
func (ss *session) letGo(alive bool) {
	ss.machine.mu.Lock()
	defer ss.machine.mu.Unlock()
	ss.over, ss.leaving = true, true
	orders := make([]order, len(ss.machine.harts))
	for id := range orders {
		orders[id] = order{goes: true, passes: true}
	}
	switch {
	case !alive:
		ss.machine.exited = true
	case !ss.machine.exited:
		ss.machine.resume(orders)
	}
}

// endAcks ends acknowledgments with this very reply.
func (ss *session) endAcks(string) string {
	ss.link.noAck = true
	return "OK"
}

func (ss *session) verbs(string) string {
	if ss.quirks.RangeSteps {
		return "vCont;c;C;s;S;r"
	}
	return "vCont;c;C;s;S"
}

// query is the reply to ?, which some stubs take for the beginning of everything.
func (ss *session) query(string) string {
	if ss.quirks.QueryClears {
		ss.machine.clear()
	}
	if ss.machine.exited {
		return ss.stopReply(event{why: ended})
	}
	return ss.stopReply(event{hart: ss.last.hart, signal: ss.last.signal, why: atFault})
}

func (ss *session) detach(string) string {
	if !ss.quirks.DetachKeeps {
		ss.machine.clear()
	}
	return "OK"
}

// monitor echoes, but for the commands that act: poll, reset.
func (ss *session) monitor(args string) string {
	command, err := rsp.ParseHexBytes(args)
	if err != nil {
		return failed
	}
	text := string(command) + "\n"
	switch {
	case string(command) == "poll":
		ss.polled = true
		return "OK"
	case string(command) == "reset" && !ss.running:
		ss.restart()
	}
	if ss.quirks.MonitorInReply {
		return hexText(text)
	}
	ss.ahead = "O" + hexText(text)
	return "OK"
}

// restart has the machine begin anew with the program that its flash has, or that is loaded into its RAM. The caller holds the
// machine's lock.
func (s *Stub) restart() {
	s.machine.reset()
	copy(s.machine.at(s.program.org, len(s.program.code)), s.program.code)
	if s.quirks.ResetClears {
		s.machine.clear()
	}
}

// Reset resets the machine as its button would if it runs just now, or if it is halted, and reports whether that was so.
func (s *Stub) Reset(running bool) bool {
	s.machine.mu.Lock()
	defer s.machine.mu.Unlock()
	if s.machine.running != running {
		return false
	}
	s.restart()
	return true
}

// supported is the exchange of features.
func (ss *session) supported(args string) string {
	theirs, _ := rsp.ParseFeatures(strings.TrimPrefix(args, ":"))
	q := &ss.quirks
	ss.multiprocess = q.Multiprocess && theirs.Has("multiprocess")
	ss.reasons = q.Reasons && (theirs.Has("swbreak") || theirs.Has("hwbreak"))
	size := rsp.AppendHex([]byte("PacketSize="), uint64(q.packetSize()))
	if q.DecimalSize {
		size = appendDecimal([]byte("PacketSize="), q.packetSize())
	}
	items := []string{string(size)}
	for _, f := range []struct {
		name string
		has  bool
	}{
		{"QStartNoAckMode", !q.KeepsAcks}, {"qXfer:features:read", !q.NoFeatures}, {"qXfer:memory-map:read", !q.NoMemoryMap},
		{"qXfer:threads:read", !q.NoThreadXfer}, {"vContSupported", !q.NoVCont}, {"multiprocess", q.Multiprocess},
		{"swbreak", q.Reasons}, {"hwbreak", q.Reasons}, {"ConditionalBreakpoints", q.Conditions == Obeyed},
		{"binary-upload", q.BinaryRead},
	} {
		if f.has {
			items = append(items, f.name+"+")
		}
	}
	if q.Features != "" {
		items = append(items, q.Features)
	}
	return strings.Join(items, ";")
}
