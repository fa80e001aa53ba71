package stub

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tracewell/internal/test/sdttest"
	"tracewell/rsp"
	"tracewell/target/fake"
	"tracewell/tracepoint"
)

var update = flag.Bool("update", false, "rewrite the replies in testdata")

// TestTranscripts plays testdata/*.txt, one session each. Those with a trace run are played again with a target that collects by
// itself and deposits hits one by one or several at a time: every answer and every byte of the trace files is to be the same.
//
//	> payload      the client sends a packet (\xNN for bytes that do not print, \\ for a backslash)
//	>> bytes       the client sends bytes as they are
//	< payload      the server replied
//	< %payload     or notified
//	= directive    something happens to the program, or to the connection; see directives
//	# text         for the reader
//
// Acknowledgments are off, unless the transcript begins with "= acks"; then they show as lines < + and < -.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txt")
		t.Run(name, func(t *testing.T) { playFile(t, file) })
	}
}

func playFile(t *testing.T, file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	p, got := playText(t, string(text), 0)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(text), got); diff != "" {
		t.Errorf("transcript differs (-want +got):\n%s", diff)
	}
	if !strings.Contains(string(text), "> QTStart") {
		return
	}
	for _, batch := range []int{1, 4} {
		t.Run(fmt.Sprintf("collected in batches of %d", batch), func(t *testing.T) {
			again, got := playText(t, string(text), batch)
			if diff := cmp.Diff(withoutCollector.Replace(string(text)), withoutCollector.Replace(got)); diff != "" {
				t.Errorf("transcript differs (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(p.saved, again.saved); diff != "" {
				t.Errorf("trace files differ (-trapped +collected):\n%s", diff)
			}
		})
	}
}

// withoutCollector leaves out what a server says only if its target has a Collector.
var withoutCollector = strings.NewReplacer("FastTracepoints+;", "", "> qTMinFTPILen\n< 1\n", "> qTMinFTPILen\n<\n")

// playText plays a transcript. With a batch the program has a Collector, which deposits that many hits at a time.
func playText(t *testing.T, text string, batch int) (*play, string) {
	p := newPlay(t)
	p.program.Batch = batch
	got := p.run(strings.Split(strings.TrimSuffix(text, "\n"), "\n"))
	p.hangUp()
	p.noRunningProgram()
	return p, got
}

// play is a transcript being played.
type play struct {
	t       *testing.T
	program fake.Program
	config  Config
	noTrace bool
	acks    bool
	size    int // packet size, 0 for the usual
	saved   map[string][]byte
	probed  map[string]*sdttest.File

	fake   *fake.Target
	engine *tracepoint.Engine
	server *Server
	conn   net.Conn
	served chan error
	tokens chan string
	told   chan string // what becomes of processes

	mu      sync.Mutex
	printed []byte // by agent expressions, since a transcript last asked; guarded by mu
}

func newPlay(t *testing.T) *play {
	return &play{t: t, program: toyProgram(), told: make(chan string, 100)}
}

// run plays lines and returns them with the replies that came.
func (p *play) run(lines []string) string {
	var out strings.Builder
	for i, line := range lines {
		if strings.HasPrefix(line, "< ") || line == "<" {
			continue
		}
		out.WriteString(line + "\n")
		expected := 0
		for _, next := range lines[i+1:] {
			if !strings.HasPrefix(next, "<") {
				break
			}
			expected++
		}
		p.do(line)
		for _, reply := range p.replies(expected) {
			out.WriteString(strings.TrimRight("< "+reply, " ") + "\n")
		}
	}
	if p.server == nil {
		p.start()
	}
	for _, reply := range p.barrier() {
		out.WriteString("< " + reply + "\n")
	}
	return out.String()
}

// do plays one line.
func (p *play) do(line string) {
	switch mark, rest, _ := strings.Cut(line, " "); mark {
	case ">":
		p.write(rsp.AppendPacket(nil, p.bytes(rest)))
	case ">>":
		p.write(p.bytes(rest))
	case "=":
		p.direct(rest)
	case "#", "":
	default:
		p.t.Fatalf("line %q begins with no known mark", line)
	}
}

// replies returns what the server says. To compare it is as many packets as are expected; to update it is what comes in
// a while.
func (p *play) replies(expected int) []string {
	var got []string
	wait := time.Minute
	if *update {
		expected, wait = 1000, 300*time.Millisecond
	}
	for len(got) < expected {
		select {
		case token, ok := <-p.tokens:
			if !ok {
				return got
			}
			got = append(got, token)
		case <-time.After(wait):
			if !*update {
				p.t.Errorf("got %d replies, expected %d", len(got), expected)
			}
			return got
		}
	}
	return got
}

// barrier asks something whose reply is known and returns what comes before that reply.
func (p *play) barrier() []string {
	const question, answer = "Hgzz", "E.H packet: offset 1: found \"zz\", expected a hexadecimal number"
	if p.conn == nil {
		return nil
	}
	p.write(rsp.AppendPacket(nil, []byte(question)))
	var before []string
	numbered := printable(numberedError(errors.New(strings.TrimPrefix(answer, "E."))))
	for token := range p.tokens {
		if token == answer || token == numbered {
			return before
		}
		if !p.acks {
			before = append(before, token)
		}
	}
	return before
}

// start makes target, engine and server, and connects.
func (p *play) start() {
	f, err := fake.New(p.program)
	if err != nil {
		p.t.Fatal(err)
	}
	p.fake = f
	p.config.Target, p.config.Notify = f, p.notify()
	if !p.noTrace {
		layout := toyLayout(p.t)
		layout.Print = p.print
		p.engine = tracepoint.New(layout)
		p.config.Engine = p.engine
	}
	p.server = New(p.config)
	if p.size != 0 {
		p.server.packetSize = p.size
	}
	p.connect()
}

// print takes what an agent expression prints.
func (p *play) print(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.printed = append(p.printed, text...)
}

func (p *play) connect() {
	client, server := net.Pipe()
	p.conn, p.served, p.tokens = client, make(chan error, 1), make(chan string, 100)
	go func() { p.served <- p.server.Serve(server) }()
	go readTokens(client, p.tokens, p.acks)
	if p.acks {
		return
	}
	p.write([]byte("$QStartNoAckMode#b0"))
	if reply := <-p.tokens; reply != "OK" {
		p.t.Fatalf("QStartNoAckMode replied %q", reply)
	}
}

// hangUp closes the connection and waits for the server to be done with it.
func (p *play) hangUp() error {
	if p.conn == nil {
		return nil
	}
	p.conn.Close()
	p.conn = nil
	for range p.tokens {
	}
	select {
	case err := <-p.served:
		return err
	case <-time.After(time.Minute):
		p.t.Fatal("Serve did not return")
		return nil
	}
}

// noRunningProgram checks that the program does not run without a client, unless it was left to a trace run.
func (p *play) noRunningProgram() {
	if !p.server.debuggee.Unattended() && p.server.debuggee.Running() {
		p.t.Error("the program runs on without a client")
	}
	if err := p.server.Close(); err != nil {
		p.t.Error(err)
	}
	if p.server.debuggee.Running() {
		if err := p.server.debuggee.Halt(); err != nil {
			p.t.Error(err)
		}
	}
}

func (p *play) write(b []byte) {
	if p.server == nil {
		p.start()
	}
	if _, err := p.conn.Write(b); err != nil && !errors.Is(err, io.ErrClosedPipe) {
		p.t.Fatal(err)
	}
}

// bytes reads the printable form of bytes.
func (p *play) bytes(s string) []byte {
	b, err := strconv.Unquote(`"` + strings.ReplaceAll(s, `"`, `\"`) + `"`)
	if err != nil {
		p.t.Fatalf("cannot read %q: %v", s, err)
	}
	return []byte(b)
}

// printable writes bytes so that bytes reads them back.
func printable(b []byte) string {
	var s strings.Builder
	for _, c := range b {
		switch {
		case c == '\\':
			s.WriteString(`\\`)
		case c < ' ' || c > '~':
			fmt.Fprintf(&s, `\x%02x`, c)
		default:
			s.WriteByte(c)
		}
	}
	return s.String()
}

// readTokens sends what the server says, in printable form. A blank stands for an empty packet.
func readTokens(r io.Reader, tokens chan<- string, acks bool) {
	defer close(tokens)
	decoder := rsp.NewDecoder(1 << 20)
	buf := make([]byte, 4096)
	for {
		n, err := r.Read(buf)
		decoder.Feed(buf[:n])
		for {
			token, ok := decoder.Next()
			if !ok {
				break
			}
			switch token.Kind {
			case rsp.Packet:
				plain, err := rsp.Unescape(nil, token.Payload)
				if err != nil {
					plain = []byte("bad escape")
				}
				tokens <- printable(plain)
			case rsp.Notification:
				tokens <- "%" + printable(token.Payload)
			case rsp.Ack, rsp.Nak:
				if acks {
					tokens <- map[rsp.TokenKind]string{rsp.Ack: "+", rsp.Nak: "-"}[token.Kind]
				}
			default:
				tokens <- token.String()
			}
		}
		if err != nil {
			return
		}
	}
}
