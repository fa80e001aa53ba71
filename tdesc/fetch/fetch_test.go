package fetch_test

import (
	"errors"
	"io/fs"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"tracewell/rsp"
	"tracewell/rsp/client"
	"tracewell/tdesc"
	"tracewell/tdesc/fetch"
)

func TestFolder(t *testing.T) {
	include := fetch.Folder(fstest.MapFS{"core.xml": {Data: []byte("<feature name='f'/>")}})
	if doc, err := include("core.xml"); err != nil || string(doc) != "<feature name='f'/>" {
		t.Errorf("%q, %v", doc, err)
	}
	if _, err := include("other.xml"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what is not there: %v", err)
	}
	for _, annex := range []string{"../core.xml", "/etc/passwd", ""} {
		if _, err := include(annex); err == nil || !strings.Contains(err.Error(), "is no file of the folder") {
			t.Errorf("%q: %v", annex, err)
		}
	}
}

// stub answers packets until the connection ends. What replies has not is answered with nothing.
func stub(conn net.Conn, reply func(packet string) string) {
	decoder := rsp.NewDecoder(1 << 20)
	own := new(rsp.Conn)
	buffer := make([]byte, 4096)
	for {
		n, err := conn.Read(buffer)
		if err != nil {
			return
		}
		decoder.Feed(buffer[:n])
		for {
			token, ok := decoder.Next()
			if !ok {
				break
			}
			out := own.Acknowledge(nil, token)
			if token.Kind == rsp.Packet {
				out = own.AppendPacket(out, []byte(reply(string(token.Payload))))
			}
			if _, err := conn.Write(out); err != nil {
				return
			}
		}
	}
}

func connect(t *testing.T, reply func(packet string) string) *client.Client {
	t.Helper()
	listener, err := net.Listen("unix", filepath.Join(t.TempDir(), "stub"))
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	ours, err := net.Dial("unix", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ours.Close() })
	theirs, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	if err := ours.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer theirs.Close()
		stub(theirs, reply)
	}()
	return client.New(ours)
}

// serve answers qXfer for documents, in pieces of at most 10 bytes.
func serve(docs map[string]string) func(string) string {
	return func(packet string) string {
		if strings.HasPrefix(packet, "qSupported:") {
			return "PacketSize=400;qXfer:features:read+"
		}
		rest, ok := strings.CutPrefix(packet, "qXfer:features:read:")
		annex, place, _ := strings.Cut(rest, ":")
		doc, known := docs[annex]
		if !ok || !known {
			return "E00"
		}
		s := rsp.NewScanner(place)
		offset := int(s.HexField())
		if len(doc)-offset <= 10 {
			return "l" + doc[offset:]
		}
		return "m" + doc[offset:offset+10]
	}
}

func TestStub(t *testing.T) {
	c := connect(t, serve(map[string]string{
		fetch.Main: `<target><architecture>i386</architecture><xi:include href="core.xml"/></target>`,
		"core.xml": `<feature name="f"><reg name="a#$}*" bitsize="32"/></feature>`,
	}))
	include, err := fetch.Stub(c)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := include(fetch.Main)
	if err != nil {
		t.Fatal(err)
	}
	target, _, err := tdesc.Parse(doc, include)
	if err != nil || target.Architecture != "i386" || target.Register("a#$}*") == nil {
		t.Errorf("%+v, %v", target, err)
	}
	if _, err := include("none.xml"); err == nil || !strings.Contains(err.Error(), `the stub replied "E00"`) {
		t.Errorf("an annex that is not there: %v", err)
	}
}

// TestStubSelectsThread holds the packets against those of GDB, in whose absence gdbserver aborts.
func TestStubSelectsThread(t *testing.T) {
	for features, want := range map[string]string{"": "Hg0", "multiprocess+;": "Hgp0.0"} {
		var packets []string
		c := connect(t, func(packet string) string {
			packets = append(packets, packet)
			switch {
			case strings.HasPrefix(packet, "qSupported:"):
				return features + "qXfer:features:read+"
			case strings.HasPrefix(packet, "qXfer:"):
				return "l<target/>"
			}
			return "E01" // as of a stub that has no thread
		})
		include, err := fetch.Stub(c)
		if err != nil {
			t.Fatal(err)
		}
		if doc, err := include(fetch.Main); err != nil || string(doc) != "<target/>" {
			t.Errorf("%q, %v", doc, err)
		}
		if len(packets) != 3 || !strings.Contains(packets[0], "xmlRegisters=i386") || packets[1] != want {
			t.Errorf("%q: packets %q, want %s behind qSupported", features, packets, want)
		}
	}
}

func TestStubWithoutDescription(t *testing.T) {
	for reply, want := range map[string]string{
		"PacketSize=400": `serves no target description`,
		"":               `serves no target description`,
	} {
		_, err := fetch.Stub(connect(t, func(string) string { return reply }))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", reply, err)
		}
	}
}

// TestEndlessStub has a stub whose document never ends.
func TestEndlessStub(t *testing.T) {
	include, err := fetch.Stub(connect(t, func(packet string) string {
		if strings.HasPrefix(packet, "qSupported:") {
			return "PacketSize=10000;qXfer:features:read+"
		}
		return "m" + strings.Repeat("x", 4000)
	}))
	if err != nil {
		t.Fatal(err)
	}
	doc, err := include(fetch.Main)
	if err != nil || len(doc) > tdesc.MaxBytes+5000 {
		t.Fatalf("%d bytes, %v", len(doc), err)
	}
	if _, _, err := tdesc.Parse(doc, include); err == nil || !strings.Contains(err.Error(), "allowed") {
		t.Errorf("error %v", err)
	}
}
