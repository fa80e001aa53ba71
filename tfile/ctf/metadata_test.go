package ctf

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/tfile"
)

func TestIs(t *testing.T) {
	for text, want := range map[string]bool{"": false, "/* CTF 1.8 */\n": true, "/* CTF": false, "\x7fTRACE0\n": false} {
		if got := Is([]byte(text)); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
	if !Is(readFile(t, "testdata/queue-basic/metadata")) {
		t.Error("GDB's own is not recognised")
	}
}

func TestQuote(t *testing.T) {
	var every []byte
	for c := range 256 {
		every = append(every, byte(c))
	}
	for _, text := range []string{string(every), "", "1\x002", `a "b" \n`} {
		l := lexer{quote(text), 1}
		got, err := l.next()
		if err != nil || got.kind != tokenString || got.text != text || l.rest != "" {
			t.Errorf("%q became %s, which is %q (%v) ahead of %q", text, quote(text), got.text, err, l.rest)
		}
	}
	// What others may write.
	l := lexer{`"\a\x41\101\x4\1012\q\"\'" rest`, 1}
	if got, err := l.next(); err != nil || got.text != "\aAA\x04A2q\"'" {
		t.Errorf("%q, %v", got.text, err)
	}
}

// otherwise declares a trace in other words than GDB does: other orders of blocks and fields, other numbers of events,
// other sizes and alignments, an event and settings that mean nothing here.
const otherwise = `/* CTF 1.8 */
// a comment
typealias integer { size = 8; } := byte;
typealias integer { size = 0x10; align = 1; byte_order = be; } := unsigned short;
typealias floating_point { exp_dig = 8; mant_dig = 24; align = 32; } := float;
typealias unsigned short := u16;
clock { name = c; offset = 3; description = "a } ; clock"; };
event { id = 300; name = frame; stream_id = 0; fields := struct { integer { size = 8; } why; }; };
event { id = 301; fields := struct { string word[2]; string { encoding = UTF8; } last; }; name = "colour"; loglevel = 3; };
event { name = register; id = 302; fields := struct { byte before; byte contents [ 3 ]; byte after; } align(32); };
event { name = memory; id = 303; fields := struct { byte length; u16 none[0]; byte contents[length]; integer { size = 32; } _address; }; };
event { name = tsv; id = 304; fields := struct { unsigned short num; integer { size = 16; align = 16; signed = true; } val; }; };
stream {
	id = 0;
	event.header := struct { unsigned short id; byte stamp; };
	packet.context := struct { byte tpnum; integer { size = 64; align = 8; } packet_size; integer { size = 64; align = 8; } content_size; };
};
env { hostname = "box"; version = 3; };
trace { minor = 8; major = 1; uuid = "f"; byte_order = le; packet.header := struct { byte uuid[2]; integer { size = 32; align = 8; } magic; }; };
callsite { name = x; };
`

// otherPacket is a packet as otherwise declares it.
func otherPacket(number byte, content string) string {
	const head = 2 + 4 + 1 + 8 + 8
	n := (head + len(content)) * 8
	return "id\xc1\x1f\xfc\xc1" + string(number) + string([]byte{byte(n + 16), byte((n + 16) >> 8), 0, 0, 0, 0, 0, 0, byte(n), byte(n >> 8), 0, 0, 0, 0, 0, 0}) + content + "\xaa\xbb"
}

func TestDeclaredOtherwise(t *testing.T) {
	// The head is of 23 bytes; the frame's event ends at 27, the register block begins at 32.
	stream := otherPacket(5, "\x01\x2c.?"+
		"\x01\x2e.\x00\x00"+"<abc>"+ // the header at 27, up to 30
		"\x01\x2d.one\x00\x00last\x00"+
		"\x01\x2f.\x02hi\x10\x32\x54\x76"+
		"\x01\x30.?\x00\x02\xf7\xff") + otherPacket(6, "\x01\x2c.?")
	c := opened(t, []byte(otherwise), []byte(stream))
	if c.NumFrames() != 2 || c.Tracepoint(0) != 5 || c.Tracepoint(1) != 6 {
		t.Fatalf("%d frames", c.NumFrames())
	}
	f := frameOf(t, c, 0)
	if got := string(f.Registers()); got != "abc" {
		t.Errorf("registers %q", got)
	}
	if v, ok := f.Variable(2); !ok || v != -9 {
		t.Errorf("variable %d, %v", v, ok)
	}
	memory := make([]byte, 4)
	if n := f.ReadMemory(0x76543210, memory); string(memory[:n]) != "hi" {
		t.Errorf("memory %q", memory[:n])
	}
	want := tfile.Header{Order: orders["le"], RegisterSize: 3}
	if diff := cmp.Diff(want, c.Header()); diff != "" {
		t.Errorf("header:\n%s", diff)
	}
}

// TestMetadataErrors makes one change at a time to metadata, and holds the error against the line and the words.
func TestMetadataErrors(t *testing.T) {
	metadata, stream := written(t, extremes(t, orders["le"], 16))
	for _, c := range []struct{ old, new, want string }{
		{"/* CTF 1.8 */", "\xd1\x1d\xc5\x75", `line 1: found "\xd1\x1d\xc5u\ntypealias`},
		{"typealias integer { size = 8; align = 8; signed = false; encoding = ascii;} := ascii", "typedef int x",
			`line 2: found "typedef", expected a declaration`},
		{"size = 16;", "size = 12;", `line 4: found "12", expected one of [8 16 32 64] bits`},
		{"align = 16;", "align = 24;", `line 4: found "24", expected one of`},
		{"byte_order = le;", "byte_order = pdp;", `line 15: found "pdp", expected le or be`},
		{"byte_order = le;", "", `found the end of the text, expected the byte_order`},
		{"uint32_t magic;", "uint31_t magic;", `line 17: found ";", expected a type`},
		{"uint16_t tpnum;", "", "expected a field tpnum in the context"},
		{"uint32_t id;", "", "expected a field id in the context"},
		{"packet.header", "packet.headers", "expected the packet.header"},
		{"packet.context", "packet.contexts", "expected the packet.context"},
		{"event.header", "event.headers", "expected the event.header"},
		{"event.header", "event.context", "line 27: found \"struct\", expected events without a context"},
		{"uint8_t contents[length]", "uint8_t contents[width]", `line 39: found "width", expected a number, or an earlier field`},
		{"uint8_t contents[length]", "uint16_t contents[length]", "line 39: found field contents, expected one that is an array of bytes, of which a number of 16"},
		{"uint16_t length", "uint32_t length", "line 39: found field contents, expected one that is an array of bytes, of which a number of 16"},
		{"uint64_t address", "chars address", "line 37: found field address, expected one that is an integer"},
		{"uint64_t address", "uint64_t adress", "line 33: found event memory without a field address"},
		{"ascii contents[16]", "ascii contents[0]", "expected an event named register"},
		{"id = 1;", "id = 2;", "line 43: found event tsv with id 2, expected an id other than that of event memory"},
		{"ascii contents[16]", "ascii contents[99999999999]", `found "99999999999", expected a number from 0 to 2147483647`},
		{"stream {", "stream { event.header := struct { }; packet.context := struct { };", "expected a trace with one kind of stream"},
		{"env {", "env { /* ", "a comment without end"},
		{"definition_1 = \"", "definition_1 = \"\n", "a string without end"},
		{"definition_1 = \"", "definition_1 = \n\"\\n", "expected a definition line of a trace file"},
		{"\"tsv 1:", "\"tsv z:", "expected a definition line of a trace file"},
		{"definition_1", `definition_0 = "x\0` + strings.Repeat("y", 17<<20) + `"; definition_1`, "definitions without end"},
		{"uint16_t tpnum;", strings.Repeat("uint16_t tpnum;", maxFields), "expected no more than 64 fields"},
	} {
		broken := strings.Replace(string(metadata), c.old, c.new, 1)
		got, err := Open([]byte(broken), bytes.NewReader(stream), int64(len(stream)))
		var e *MetadataError
		if got != nil || !errors.As(err, &e) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.200q for %q: %v, want %s", c.new, c.old, err, c.want)
		}
	}
}

// TestMetadataCut cuts metadata at many places: an error each time, but where only things that are not needed are missing.
func TestMetadataCut(t *testing.T) {
	metadata, stream := written(t, extremes(t, orders["be"], 16))
	needed := bytes.Index(metadata, []byte("register"))
	for n := 0; n < len(metadata); n += 3 {
		_, err := Open(metadata[:n], bytes.NewReader(stream), int64(len(stream)))
		var e *MetadataError
		if err != nil && !errors.As(err, &e) || err == nil && n < needed {
			t.Fatalf("cut at %d: %v", n, err)
		}
		if err != nil && (e.Line < 1 || e.Line > bytes.Count(metadata[:n], []byte("\n"))+1) {
			t.Fatalf("cut at %d: %v", n, err)
		}
	}
}

// TestMalformedDefinitions breaks events of the first packet: each is a finding, and all the rest is there.
func TestMalformedDefinitions(t *testing.T) {
	c := extremes(t, orders["be"], 16)
	metadata, whole := written(t, c)
	metadata, _, _ = bytes.Cut(metadata, []byte("env {"))
	for _, change := range []struct{ old, new, want string }{
		{"\x00\x00\x00\x06\x00\x00\x00\x07", "\xff\xff\xff\xff\x00\x00\x00\x07",
			"offset 20: malformed-event: event status: found a stop reason of -1, expected one of 0 to 6"},
		{"\x00\x00\x00\x07\x00\x00\x00\x01\x00\x00\x00\x03", "\xff\x00\x00\x07\x00\x00\x00\x01\x00\x00\x00\x03", "event tp_def: found a tracepoint of number -16777209, expected"},
		{"\x00\x00\x00\x07\x00\x00\x00\x01\x00\x00\x00\x03", "\x00\x00\x00\x07\x00\x00\x00\x01\xff\xff\xff\xff", "event tp_def: found a step of -1, expected 0"},
		{"220127\x00", "22012x\x00", `event tp_def: condition: encoding/hex: invalid byte: U+0078 'x'`},
		{"Rff01", "Qff01", "event tp_def: tracepoint action"},
		{"L\x00", "?\x00", "event tp_def: tracepoint action"},
		{"\x00\x00\xff\xff\x00\x00\x00\x00my", "\x00\x01\xff\xff\x00\x00\x00\x00my", "event tsv_def: found a variable of number 131071, expected at most 65535"},
		{"\x00\x00\x00\x05\x00", "\x00\x00\x00\x63\x00", "offset 56: malformed-event: damaged CTF packet: offset 56: found an event of id 99, expected one that the metadata declare"},
		{"\x00\x00\x00\x02Rff01", "\x00\xff\x00\x02Rff01", "to the end of the packet, expected event tp_def with its field actions"},
	} {
		stream := bytes.Replace(whole, []byte(change.old), []byte(change.new), 1)
		got, err := Open(metadata, bytes.NewReader(stream), int64(len(stream)))
		if err != nil {
			t.Fatal(err)
		}
		if found := got.Findings(); len(found) != 1 || !strings.Contains(found[0].String(), change.want) {
			t.Errorf("%q for %q: %v, want %s", change.new, change.old, found, change.want)
		}
		sameFrames(t, got, c)
	}
}
