//go:build linux

package robust

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"tracewell/rsp/request"
)

// walk is a client that sends any packet in any order.
type walk struct {
	*client
	random *rand.Rand
	wild   bool // packets may also end the program or spoil it
	log    []string
	folder string // for files that the server writes

	nonStop  bool
	notified int // notifications since the last vStopped
}

// newWalk begins a walk over a connection.
func newWalk(c *client, seed uint64, wild bool) *walk {
	w := &walk{client: c, random: rand.New(rand.NewPCG(seed, 2)), wild: wild, folder: c.TempDir()}
	c.Notify = func([]byte) { w.notified++ }
	return w
}

// packet is one kind of step. The first word of form names the packet as the server's own table does; FIELDS in angle
// brackets are filled in.
type packet struct {
	form string
	wild bool
}

// packets has each packet of the table, those that matter most more than once. The tame forms leave the program what it is.
// All is in all-stop mode, where each packet has its reply.
var packets = []packet{
	{"qSupported", false}, {"qSupported:multiprocess+;swbreak+;error-message+;exec-events+;x", false},
	{"qSupported:multiprocess+;hwbreak+;fork-events+;vfork-events+;no-resumed+;qRelocInsn+", false}, {"QStartNoAckMode", false},
	{"vMustReplyEmpty", false}, {"QNonStop:<flag>", false}, {"QNonStop:0", false}, {"QAgent:<flag>", false}, {"qSymbol:<hex>:<text>", false}, {"qSymbol::", false},
	{"qRcmd,68656c70", false}, {"qRcmd,<text>", false},
	{"!", false}, {"?", false}, {"Hg<thread>", false}, {"Hc<thread>", false}, {"H<junk>", false}, {"T<thread>", false}, {"qC", false},
	{"qfThreadInfo", false}, {"qsThreadInfo", false}, {"qThreadExtraInfo,<thread>", false}, {"qAttached", false}, {"qAttached:<pid>", false},
	{"qXfer:threads:read::<part>", false}, {"g", false}, {"G<text>", false}, {"p<small>", false}, {"p<hex>", false}, {"P<small>=<junk>", false},
	{"P<small>=<word>", true}, {"m<addr>,<small>", false}, {"m<hex>,<hex>", false}, {"x<addr>,<small>", false},
	{"M<hex>,<small>:<text>", false}, {"M<addr>,1:<byte>", true}, {"X<hex>,<small>:<junk>", false}, {"X<addr>,1:a", true},
	{"qSearch:memory:<addr>;<hex>;<text>", false}, {"qSearch:memory:<hex>;<hex>;<junk>", false}, {"qCRC:<addr>,<small>", false},
	{"qCRC:<hex>,<hex>", false}, {"qGetTLSAddr:<thread>,<hex>,0", false}, {"qGetTLSAddr:<thread>,<small>,<addr>", false},
	{"qXfer:osdata:read::<part>", false}, {"qXfer:osdata:read:processes:<part>", false}, {"qXfer:osdata:read:sockets:<part>", false},
	{"qXfer:features:read:target.xml:<part>", false}, {"vCont?", false}, {"vCont;c", false}, {"vCont;c", false}, {"vCont;c", false},
	{"vCont;s:<thread>", false}, {"vCont;s:<thread>;c", false}, {"vCont;r<addr>,<addr>:<thread>;c", false}, {"vCont;t", false},
	{"vCont;C1c:<thread>;c", false}, {"vCont;C<byte>", true}, {"vCont;<junk>", false}, {"c", false}, {"c<addr>", true}, {"C1c", false},
	{"C<byte>;<addr>", true}, {"s", false}, {"s<addr>", true}, {"S1c", false}, {"QPassSignals:e;14;1c", false}, {"QPassSignals:<byte>", false},
	{"vCtrlC", false}, {"vStopped", false}, {"QThreadEvents:<flag>", false}, {"QProgramSignals:<byte>", false},
	{"QCatchSyscalls:0", false}, {"QCatchSyscalls:1;<small>", false}, {"QEnvironmentHexEncoded:<text>", false},
	{"QEnvironmentUnset:<text>", false}, {"QEnvironmentReset", false}, {"QSetWorkingDir:<text>", false},
	{"QStartupWithShell:<flag>", false}, {"QDisableRandomization:<flag>", false}, {"vAttach;<hex>", false}, {"R0", true},
	{"k", true}, {"vKill;<pid>", true}, {"vRun;", true}, {"vRun;2f6e6f6e65", true}, {"vKill;<hex>", false}, {"D", true}, {"D;<pid>", true}, {"D;<hex>", false},
	{"Z0,<addr>,1", false}, {"Z0,<addr>,1;X3,220027", false}, {"Z0,<addr>,1;X3,220027X3,220127", false},
	{"Z0,<addr>,1;cmds:<flag>,X3,220127", false}, {"Z0,<addr>,1;X<small>,<text>;cmds:<junk>", false}, {"Z<digit>,<hex>,<small>", false}, {"z0,<addr>,1", false}, {"z0,<addr>,1", false}, {"z<digit>,<hex>,<small>", false},
	{"qXfer:auxv:read::<part>", false}, {"qXfer:exec-file:read:<pid>:<part>", false}, {"qXfer:exec-file:read::<part>", false},
	{"qXfer:libraries-svr4:read::<part>", false}, {"qXfer:libraries-svr4:read:start=<hex>;prev=<hex>:<part>", false}, {"qXfer:siginfo:read::<part>", false}, {"qXfer:siginfo:write::<hex>:<text>", false},
	{"QTinit", false}, {"QTDP:<number>:<addr>:E:<digit>:<digit>", false}, {"QTDP:<number>:<addr>:E:0:0-", false},
	{"QTDP:<number>:<addr>:<flag>:<hex>:<hex>:<junk>", false}, {"QTDP:-<number>:<addr>:R03FFFF", false},
	{"QTDP:-<number>:<addr>:M-1,<addr>,<small>", false}, {"QTDP:-<number>:<addr>:M7,0,<small>X00000006,260007162327", false},
	{"QTDP:-<number>:<addr>:SM<junk>", false}, {"QTDPsrc:<number>:<addr>:cmd:0:<small>:<text>", false},
	{"QTEnable:<number>:<addr>", false}, {"QTDisable:<number>:<addr>", false}, {"QTDV:<digit>:<hex>:0:<text>", false},
	{"QTro:<addr>,<addr>", false}, {"QTStart", false}, {"QTStart", false}, {"QTStop", false}, {"QTDisconnected:0", false},
	{"QTDisconnected:<digit>", false}, {"QTBuffer:circular:<flag>", false}, {"QTBuffer:size:<small>000", false}, {"QTBuffer:size:-1", false},
	{"QTNotes:user:<text>;notes:<text>;", false}, {"qTStatus", false}, {"qTP:<number>:<addr>", false}, {"qTV:<digit>", false},
	{"qTfP", false}, {"qTsP", false}, {"qTfV", false}, {"qTsV", false}, {"qTMinFTPILen", false}, {"QTFrame:<small>", false},
	{"QTFrame:pc:<addr>", false}, {"QTFrame:tdp:<number>", false}, {"QTFrame:range:<addr>:<addr>", false}, {"QTFrame:outside:<hex>:<hex>", false},
	{"QTFrame:ffffffff", false}, {"QTFrame:ffffffff", false}, {"QTFrame:-1", false}, {"qXfer:traceframe-info:read::<part>", false},
	{"vFile:setfs:0", false}, {"vFile:setfs:<pid>", false}, {"vFile:open:2f70726f632f73656c662f6d617073,0,0", false}, // /proc/self/maps
	{"vFile:open:2f6e6f6e65,<hex>,<hex>", false}, {"vFile:close:<small>", false}, {"vFile:pread:<small>,<hex>,<small>", false},
	{"vFile:pread:<digit>,<small>,<small>", false}, {"vFile:pwrite:<small>,<small>,<text>", false}, {"vFile:fstat:<digit>", false},
	{"vFile:stat:2f6e6f6e65", false}, {"vFile:lstat:2f6e6f6e65", false}, {"vFile:unlink:2f6e6f6e65", false}, // /none
	{"vFile:readlink:2f70726f632f73656c66", false}, {"vFile:<junk>", false},
	{"qTBuffer:<small>,<small>", false}, {"qTBuffer:<hex>,<hex>", false}, {"<junk>", false},
	{"bc", false}, {"bs", false}, {"qTfSTM", false}, {"qTsSTM", false}, {"qTSTMat:<addr>", false}, {"qXfer:statictrace:read::<part>", false},
	{"QTDP:<number>:<addr>:E:0:0:S-", false}, {"qRelocInsn:<small>", false}, {"E01", false}, {"E.<text>", false},
	{"QTSave:<file>", false}, {"QTSave:<junk>", false}, {"F<hex>,<small>", false}, {"F-1,4,C", false},
	{"qHostInfo", false}, {"qProcessInfo", false}, {"jThreadsInfo", false}, {"j<junk>", false}, {"qShlibInfoAddr", false},
	{"qMemoryRegionInfo:<addr>", false}, {"qMemoryRegionInfo:<hex>", false}, {"qMemoryRegionInfo:<junk>", false},
	// Errors have another form behind the first of these; the others are about programs that are started later, and map memory.
	{"QEnableErrorStrings", true}, {"QSetDisableASLR:<flag>", true}, {"QSetSTDIN:<text>", true}, {"QSetSTDOUT:<text>", true},
	{"QSetSTDERR:<text>", true}, {"_M<small>,rwx", true}, {"_M<hex>,r", true}, {"_m<addr>", true}, {"_m<hex>", true}, {"_<junk>", true},
}

var field = regexp.MustCompile(`<[a-z]+>`)

// fill replaces the fields of a form.
func (w *walk) fill(form string) string {
	r := w.random
	return field.ReplaceAllStringFunc(form, func(name string) string {
		switch name {
		case "<addr>":
			return fmt.Sprintf("%x", w.at(pick(r, []string{"tick_emulated", "tick_slot", "site_stepped", "tick_stepped"})))
		case "<thread>":
			return pick(r, []string{"0", "-1", "1", "p-1.-1", "p0.0", "7fffffff", fmt.Sprintf("%x", w.pid), fmt.Sprintf("p%x.%x", w.pid, w.pid),
				fmt.Sprintf("%x", w.pid+r.IntN(6))})
		case "<pid>":
			return fmt.Sprintf("%x", w.pid)
		case "<part>":
			return fmt.Sprintf("%x,%x", r.IntN(3)*r.IntN(2000), r.IntN(5000))
		case "<flag>":
			return pick(r, []string{"0", "1"})
		case "<digit>", "<number>":
			return fmt.Sprint(1 + r.IntN(5))
		case "<small>":
			return fmt.Sprintf("%x", r.IntN(64))
		case "<byte>":
			return fmt.Sprintf("%02x", r.IntN(64))
		case "<word>":
			return fmt.Sprintf("%016x", r.Uint64())
		case "<hex>":
			return fmt.Sprintf("%x", r.Uint64()>>r.IntN(16)|1<<47) // no address that the program could have
		case "<file>":
			return fmt.Sprintf("%x", filepath.Join(w.folder, pick(r, []string{"trace", "none/trace"})))
		case "<text>":
			return strings.Repeat("61", r.IntN(9))
		}
		return junk(r)
	})
}

// junk is something that fits nowhere.
func junk(r *rand.Rand) string {
	b := []byte(pick(r, []string{"", "z", ":", ";;", ",", "-", "~", "}", "*"}))
	for range r.IntN(12) {
		b = append(b, byte(r.IntN(256)))
	}
	return "~" + string(b)
}

// resumes reports whether a packet lets the program run if it is answered by nothing at once.
func resumes(packet string) bool {
	return strings.HasPrefix(packet, "vCont;") && packet != "vCont;t" || packet[0] == 'c' || packet[0] == 'C' || packet[0] == 's' || packet[0] == 'S'
}

// step sends one packet and takes its reply.
func (w *walk) step() error {
	p := pick(w.random, packets)
	if p.wild && !w.wild {
		return nil
	}
	packet := w.fill(p.form)
	w.log = append(w.log, packet)
	if err := w.Send([]byte(packet)); err != nil || packet == "k" {
		return err
	}
	if packet[0] == 'R' {
		return w.restarted()
	}
	if resumes(packet) && !w.nonStop {
		return w.run()
	}
	reply, err := w.answer()
	if on, chosen := strings.CutPrefix(packet, "QNonStop:"); chosen && reply == "OK" {
		w.nonStop = on == "1"
	}
	if err == nil && w.notified > 0 && w.random.IntN(3) > 0 {
		err = w.acknowledge()
	}
	return err
}

// acknowledge takes the events of threads that a notification began.
func (w *walk) acknowledge() error {
	w.notified = 0
	for {
		if err := w.Send([]byte("vStopped")); err != nil {
			return err
		}
		if reply, err := w.answer(); err != nil || reply == "OK" {
			return err
		}
	}
}

// restarted waits until the server is done with R, which it answers only when it does not know it.
func (w *walk) restarted() error {
	if err := w.Send([]byte("Hgzz")); err != nil {
		return err
	}
	for {
		if reply, err := w.answer(); err != nil || reply != "" {
			return err
		}
	}
}

// passing are what the server sends while the client waits for a reply, and is none.
var passing = regexp.MustCompile(`^(O[0-9a-f]+$|qRelocInsn:)`)

// answer waits for a reply. What comes before it, the output of a monitor command and questions about instructions, it prints
// and answers as GDB does. No tame packet ends the program.
func (w *walk) answer() (string, error) {
	w.conn.SetDeadline(time.Now().Add(patience))
	reply, err := w.Receive()
	for ; err == nil && passing.Match(reply); reply, err = w.Receive() {
		if reply[0] == 'O' {
			continue
		}
		if err := w.Send([]byte(pick(w.random, []string{"E01", "qRelocInsn:5", "qRelocInsn:0", "qRelocInsn:zz"}))); err != nil {
			return "", err
		}
	}
	if err == nil && !w.wild && len(reply) > 0 && strings.IndexByte("WX", reply[0]) >= 0 {
		err = fmt.Errorf("the program has ended: %s", reply)
	}
	return string(reply), err
}

// run has the program run for a moment after a packet that resumes, during which other packets are sent, and stops it. Each
// of the packets is answered, and there is one stop reply or one refusal.
func (w *walk) run() error {
	want := 1
	time.Sleep(time.Duration(w.random.IntN(1500)) * time.Microsecond)
	for range w.random.IntN(3) {
		packet := pick(w.random, []string{"qTStatus", "QTStop", "g", "m401000,4", "qTfP", "qC", "vCont;c", "QTStart", "qfThreadInfo", "QTFrame:0", "?"})
		w.log = append(w.log, packet+" (running)")
		if err := w.Send([]byte(packet)); err != nil {
			return err
		}
		want++
	}
	if err := w.Interrupt(); err != nil {
		return err
	}
	for ; want > 0; want-- {
		if _, err := w.answer(); err != nil {
			return err
		}
	}
	return w.settle()
}

// settle has the program stopped, whatever the packets before have led to: one that came while another had stopped the program
// may have let it run again.
func (w *walk) settle() error {
	for range 50 {
		if err := w.Interrupt(); err != nil {
			return err
		}
		if err := w.Send([]byte("vMustReplyEmpty")); err != nil {
			return err
		}
		running := false
		for reply := "?"; reply != ""; running = running || reply != "" {
			var err error
			if reply, err = w.answer(); err != nil {
				return err
			}
		}
		if err := w.Send([]byte("qC")); err != nil {
			return err
		}
		if reply, err := w.answer(); err != nil || !running && !strings.HasPrefix(reply, "T") {
			return err
		}
	}
	return errors.New("the program does not stop")
}

// walk makes n steps.
func (w *walk) walk(n int) {
	w.Helper()
	for range n {
		err := w.step()
		if err != nil {
			w.Fatalf("%v after %q", err, w.log[max(0, len(w.log)-12):])
		}
	}
}

// TestAnyPacketInAnyOrder sends thousands of packets that spare the program, in any order, and then the server must be able
// to trace it as if nothing had been, and the program must be right.
func TestAnyPacketInAnyOrder(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			s := serveReading(t, nil, "hammer", "3")
			w := newWalk(s.connect(), seed, false)
			w.walk(2000)
			w.hangUp()
			c := s.connect()
			c.wants(c.ask("?"), "T")
			for _, place := range []string{"tick_emulated", "tick_slot", "site_stepped", "tick_stepped"} {
				c.remove(s.at(place))
			}
			do(c, request.Disconnected, false)
			c.inOrder()
			s.end()
			c.toEnd()
			s.soundServer()
		})
	}
}

// TestAnyPacketAtAnyPrice sends packets that also spoil, kill and free the program: the server answers each of them, and
// ends when it is told to.
func TestAnyPacketAtAnyPrice(t *testing.T) {
	t.Parallel()
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			s := serveReading(t, nil, "hammer", "3")
			w := newWalk(s.connect(), seed, true)
			w.walk(150)
			w.tell("qRcmd,65786974") // monitor exit
			if reply, err := w.answer(); err != nil || reply != "OK" {
				t.Errorf("reply to monitor exit is %q (%v)", reply, err)
			}
			s.end() // should it have been detached
			if code := s.server.Wait(t); code != 0 {
				t.Errorf("exit status %d, want 0", code)
			}
			s.soundServer()
		})
	}
}

// TestWalkKnowsAllPackets holds the list of packets here to the server's own.
func TestWalkKnowsAllPackets(t *testing.T) {
	t.Parallel()
	reference, err := os.ReadFile("../../../docs/packets.md") // which a test of stub makes of the server's table
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile("(?m)^\\| `([^`]+)` ").FindAllSubmatch(reference, -1)
	if len(rows) < 50 {
		t.Fatalf("%d packets in the reference", len(rows))
	}
	// A name is a letter or sign, or a word, more words after colons included; behind it come the fields, in capitals.
	names := regexp.MustCompile(`^(b[a-z]|[qQ][A-Za-z-]+(:[a-z-]+)*:?|v[A-Z][a-z]+(:[a-z]+)*|.)`)
	for _, row := range rows {
		name := string(names.Find(row[1]))
		if !slices.ContainsFunc(packets, func(p packet) bool { return strings.HasPrefix(p.form, name) }) {
			t.Errorf("no step of the walk is %q (of %s)", name, row[1])
		}
	}
}
