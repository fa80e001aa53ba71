// Package client is GDB's side of the remote protocol in typed calls. Requests are written by the grammar that package stub
// reads by (rsp/request), replies are read by the one that it writes by (rsp/reply) and come back as values: any request and
// the form of its reply make a call (Ask). Where there is more to it than that, as with lists, objects and stops, there is a
// method.
//
// Every call sends one packet, or as many as a long answer takes, and waits for the replies; a Batch sends several packets in
// one write.
//
// Acknowledgments are on as a connection begins, and each packet is sent up to three times until the stub has it whole; a reply
// that arrives damaged is asked for again as often. EndAcks ends that, for connections that lose nothing: TCP, pipes.
//
// Between a packet and its reply a stub may send console output and questions about instructions (qRelocInsn), and at any
// time notifications. Output goes to Console. The questions are answered by no: the stub steps over the instruction then. Of
// notifications the first stop is kept until Notified fetches it. The connection is read only in calls: a notification that
// comes between two of them is seen during the next, so a caller in non-stop mode polls by a cheap packet.
//
// What can go wrong has a type each. *UnsupportedError: the stub does not know the packet. *CodeError and *MessageError: it
// refuses, by a number or in words. *ReplyError: its reply makes no sense. After all of these the next call may be made.
// *LostError: the connection failed, the stub is gone, or it was silent for longer than Patience. It is final, and every later call
// returns it: a reply that came late would be taken for that of another packet. Whether the stub has executed the packet is not
// known then.
//
// A Client has no policy: it opens, closes and repeats nothing, and starts no goroutine. It is for one goroutine at a time,
// but for Interrupt.
package client

import (
	"io"
	"strconv"
	"strings"
	"time"

	"tracewell/rsp"
	"tracewell/rsp/reply"
	"tracewell/rsp/request"
)

// Sizes of packets in bytes.
const (
	usualPacket = 399 // of a stub that does not say what it takes, as GDB has it
	leastPacket = 64  // with less, a stub has made a mistake: its answers to qSupported alone are longer
	mostPacket  = 64 << 10
)

// Client is a connection to a stub. Its exported fields may be changed between calls.
type Client struct {
	// Patience is how long a stub may take for a reply, with the console output and questions in front of it; 0 for ever. It
	// needs a connection with deadlines, such as a net.Conn. Stops have a limit of their own, see AwaitStop.
	Patience time.Duration
	// Console takes what the program, or a monitor command, prints while a reply is due; nil to drop it.
	Console func(text []byte)
	// NonStop says that the stub was told to be in non-stop mode, so that resumptions are answered at once.
	NonStop bool

	rw       io.ReadWriter
	link     *rsp.Client
	features rsp.Features
	packet   int      // see PacketSize
	noAck    bool     // acknowledgments have ended
	implied  bool     // those of the stub's packets, by the next packet
	ahead    [][]byte // packets that go with the next one, see Ahead
	owed     int      // replies to such packets that have been sent
	notified []string // stop replies that notifications brought
	lost     *LostError
	stopped  lastStop
}

// lastStop is the stop reply that came last, and what it says: most say the same again and again.
type lastStop struct {
	text string
	stop reply.Stop
}

// New returns a client of the stub at the other end of rw. It sends nothing by itself.
func New(rw io.ReadWriter) *Client {
	c := &Client{rw: rw, packet: usualPacket}
	c.link = rsp.NewClient(patiently{rw, c})
	c.link.Notify = c.notify
	return c
}

// Features is what the stub said that it can, see Hello.
func (c *Client) Features() rsp.Features { return c.features }

// PacketSize is the length of the longest packet that the stub takes, in bytes.
func (c *Client) PacketSize() int { return c.packet }

// Hello exchanges features and keeps the stub's.
func (c *Client) Hello(own rsp.Features) error {
	packet := request.Supported.Append(nil, own)
	text, err := c.Exchange(packet)
	// QEMU stops a machine that runs as somebody connects to it, and says so without having been asked.
	if err == nil && isStop(text) {
		text, err = c.receive(packet)
	}
	// A stub that has another client says so in words, if at all. Features never look like that.
	if err == nil && strings.HasPrefix(text, "E.") {
		err = judge(request.Supported.Name(), text)
	}
	if err != nil {
		return err
	}
	c.features, _ = rsp.ParseFeatures(text) // GDB warns of strange items and goes on
	if size, err := strconv.ParseUint(c.features.Value("PacketSize"), 16, 31); err == nil {
		c.packet = max(leastPacket, min(int(size), mostPacket))
	}
	return nil
}

// isStop reports whether a reply is a stop.
func isStop(text string) bool {
	_, err := reply.Stopped.Parse(text)
	return err == nil
}

// EndAcks ends acknowledgments where the stub offers that. With one that refuses all the same they go on.
func (c *Client) EndAcks() error {
	if !c.features.Has("QStartNoAckMode") {
		return nil
	}
	text, err := c.Exchange(request.StartNoAckMode.Append(nil, request.None{}))
	if err == nil && text == "OK" {
		c.noAck = true
		c.link.NoAck()
	}
	return err
}

// ImplyAcks has replies acknowledged by the packets that follow them, for stubs that stop their program at any byte (QEMU).
func (c *Client) ImplyAcks() {
	c.implied = true
	c.link.ImplyAcks()
}

// Ahead has a packet sent in one write with the next one, which saves its round trip. Its reply has to be OK: any other loses the
// connection, as the stub has executed what stands behind it by then. Acknowledgments must have ended, or be implied.
func (c *Client) Ahead(packet []byte) {
	n := len(c.ahead)
	if n == cap(c.ahead) {
		c.ahead = append(c.ahead, nil)
	}
	c.ahead = c.ahead[:n+1]
	c.ahead[n] = append(c.ahead[n][:0], packet...)
}

// Exchange sends a packet and returns its reply, whatever that is; only a *LostError is an error. It is for packets that have
// no form, and for replies that callers judge themselves.
func (c *Client) Exchange(packet []byte) (string, error) {
	if err := c.send(packet); err != nil {
		return "", err
	}
	return c.receive(packet)
}

// Query sends a request and returns the reply, which is neither empty nor an error.
func Query[A any](c *Client, f *request.Form[A], args A) (string, error) {
	text, err := c.Exchange(f.Append(nil, args))
	if err == nil {
		err = judge(f.Name(), text)
	}
	return text, err
}

// Command sends a request that is answered by OK.
func Command[A any](c *Client, f *request.Form[A], args A) error {
	_, err := Do(c, OK(f, args))
	return err
}

// Interrupt asks a stub to stop its program, as Ctrl-C does. It may be called at any time by any goroutine.
func (c *Client) Interrupt() error { return c.link.Interrupt() }

// Resume has threads go on. In non-stop mode the stub says OK; otherwise its reply is the next stop, see AwaitStop.
func (c *Client) Resume(actions ...request.Action) error {
	if c.NonStop {
		return Command(c, request.Resume, actions)
	}
	return c.Send(request.Resume.Append(nil, actions))
}

// Send sends a packet whose reply is the next stop, see AwaitStop: c and s, for stubs that do not know vCont.
func (c *Client) Send(packet []byte) error { return c.send(packet) }

// Requesting is the Kind of a Stop that is none: the program has the client do something with a file, and stands still for it
// (GDB manual, File-I/O). Detail is the request, such as "write,1,80000400,c". Other calls may be made, most of them to read or
// write memory; then the answer is sent (Send), and the program goes on.
const Requesting = 'F'

// AwaitStop waits for the stop reply that a resumption is owed in all-stop mode, up to a time, or for ever if that is zero. What
// comes before it may be a request, which is returned as a Stop of the Kind Requesting. What the Stop points to is not to be
// changed: it may be returned again.
func (c *Client) AwaitStop(limit time.Time) (reply.Stop, error) {
	if err := c.deadline(limit); err != nil {
		return reply.Stop{}, err
	}
	b, err := c.receiveBytes(resumed)
	if err != nil {
		return reply.Stop{}, err
	}
	if len(b) > 0 && b[0] == Requesting {
		return reply.Stop{Kind: Requesting, Detail: string(b[1:]), Core: -1}, nil
	}
	if string(b) == c.stopped.text {
		return c.stopped.stop, nil
	}
	text := string(b)
	stop, err := parseStop("vCont", text)
	if err == nil {
		c.stopped = lastStop{text, stop}
	}
	return stop, err
}

// resumed is the packet that a stop is the reply to, for errors.
var resumed = []byte("vCont")

// StopReason asks for the first stop, as a client does that has just connected. In non-stop mode others may follow, see
// NextStop; ok is false if no thread is stopped.
func (c *Client) StopReason() (s reply.Stop, ok bool, err error) { return c.stop(request.StopReason) }

// Notified returns the stop that a notification told of, and forgets it; ok is false if there was none. NextStop has to
// follow, unless the process ended and the stub may go with it.
func (c *Client) Notified() (s reply.Stop, ok bool, err error) {
	if len(c.notified) == 0 {
		return s, false, nil
	}
	text := c.notified[0]
	c.notified = nil
	s, err = parseStop("%Stop", text)
	return s, true, err
}

// HasNotified reports whether Notified has a stop to return.
func (c *Client) HasNotified() bool { return len(c.notified) > 0 }

// NextStop acknowledges a stop of non-stop mode and asks for the next; ok is false if there is no more.
func (c *Client) NextStop() (s reply.Stop, ok bool, err error) { return c.stop(request.NextStop) }

func (c *Client) stop(f *request.Form[request.None]) (s reply.Stop, ok bool, err error) {
	text, err := Query(c, f, request.None{})
	if err != nil || text == "OK" {
		return s, false, err
	}
	s, err = parseStop(f.Name(), text)
	return s, err == nil, err
}

// notify keeps the first stop that is notified: the stub sends no other until vStopped has fetched all of them.
func (c *Client) notify(payload []byte) {
	if stop, ok := strings.CutPrefix(string(payload), reply.Notification); ok && stop != "" {
		c.notified = append(c.notified, stop)
	}
}
