package rsp

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// decode feeds the pieces in turn and returns every token as text.
func decode(limit int, pieces ...string) []string {
	d := NewDecoder(limit)
	var got []string
	for _, p := range pieces {
		lent := []byte(p)
		d.Feed(lent)
		for t, ok := d.Next(); ok; t, ok = d.Next() {
			got = append(got, t.String())
		}
		clear(lent) // whatever the decoder still needs it must have copied
	}
	return got
}

func TestDecoder(t *testing.T) {
	tests := []struct {
		name  string
		input string
		want  []string
	}{
		{"packet", "$OK#9a", []string{`packet "OK"`}},
		{"upper-case checksum", "$OK#9A", []string{`packet "OK"`}},
		{"empty packet", "$#00", []string{`packet ""`}},
		{"notification", "%Stop:T05#99", []string{`notification "Stop:T05"`}},
		{"single bytes", "+-\x03", []string{"ack", "nak", "interrupt"}},
		{"single bytes inside a body", "$+-\x03#5b", []string{`packet "+-\x03"`}},
		{"junk between frames", "\r\nhello$OK#9a\x00$OK#9a", []string{`packet "OK"`, `packet "OK"`}},
		{"escapes stay", "$}\x03#80", []string{`packet "}\x03"`}},
		{"wrong checksum", "$OK#9b$OK#9a", []string{`bad checksum "OK"`, `packet "OK"`}},
		{"checksum no number", "$OK#9g", []string{`bad checksum "OK"`}},
		{"frame without checksum", "$abc#$OK#9a", []string{`bad checksum "abc"`, `packet "OK"`}},
		{"interrupt for a check digit", "$abc#1\x03", []string{`bad checksum "abc"`, "interrupt"}},
		{"frame given up", "$ab$c$OK#9a", []string{`packet "OK"`}},
		{"notification given up for a packet", "%ab$OK#9a", []string{`packet "OK"`}},
		{"damaged notification", "%ab#00+", []string{"ack"}},
		{"at the limit", "$12345678#a4", []string{`packet "12345678"`}},
		{"over the limit", "$123456789#dd+", []string{"oversized", "ack"}},
		{"over the limit and damaged", "$1234567890#00+", []string{`bad checksum ""`, "ack"}},
		{"over the limit and given up", "$123456789$OK#9a", []string{`packet "OK"`}},
		{"notification over the limit", "%123456789#dd+", []string{"ack"}},
		{"unfinished body", "$OK", nil},
		{"unfinished checksum", "$OK#9", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, decode(8, tt.input)); diff != "" {
				t.Errorf("in one piece (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.want, decode(8, strings.Split(tt.input, "")...)); diff != "" {
				t.Errorf("byte by byte (-want +got):\n%s", diff)
			}
			for cut := 1; cut < len(tt.input); cut++ {
				if diff := cmp.Diff(tt.want, decode(8, tt.input[:cut], tt.input[cut:])); diff != "" {
					t.Errorf("cut at %d (-want +got):\n%s", cut, diff)
				}
			}
		})
	}
}

// TestTokenKinds names every kind, and what is none.
func TestTokenKinds(t *testing.T) {
	for kind, want := range map[TokenKind]string{
		0: "none", Packet: "packet", Notification: "notification", Ack: "ack", Nak: "nak", Interrupt: "interrupt",
		BadChecksum: "bad checksum", Oversized: "oversized", Oversized + 1: "TokenKind(8)",
	} {
		if got := kind.String(); got != want {
			t.Errorf("kind %d is %q, want %q", uint8(kind), got, want)
		}
	}
}

func TestDecoderFeedBeforeNext(t *testing.T) {
	d := NewDecoder(100)
	d.Feed([]byte("+$O"))
	if tok, _ := d.Next(); tok.Kind != Ack {
		t.Fatalf("first token is %v, want ack", tok)
	}
	d.Feed([]byte("K#9a"))
	d.Feed([]byte("-"))
	var got []string
	for tok, ok := d.Next(); ok; tok, ok = d.Next() {
		got = append(got, tok.String())
	}
	if diff := cmp.Diff([]string{`packet "OK"`, "nak"}, got); diff != "" {
		t.Errorf("tokens (-want +got):\n%s", diff)
	}
}

func TestDecoderZeroCopy(t *testing.T) {
	d := NewDecoder(100)
	in := []byte("$m401131,4#f7$g#67")
	d.Feed(in)
	tok, _ := d.Next()
	if &tok.Payload[0] != &in[1] {
		t.Error("the payload of a packet that came in one piece was copied")
	}
	_ = append(tok.Payload, "zzzz"...)
	if !bytes.HasSuffix(in, []byte("#f7$g#67")) {
		t.Error("appending to a payload overwrote the bytes behind it")
	}
}

func TestDecoderHoldsNoMoreThanLimit(t *testing.T) {
	const limit = 64
	d := NewDecoder(limit)
	d.Feed([]byte("$"))
	for range 1000 {
		d.Next()
		d.Feed([]byte("0123456789"))
	}
	d.Next()
	if cap(d.held) > 2*limit {
		t.Errorf("holds %d bytes of a packet limited to %d", cap(d.held), limit)
	}
}

func TestDecoderAllocations(t *testing.T) {
	stream := AppendPacket([]byte("+"), bytes.Repeat([]byte("0123456789abcdef"), 100))
	half := len(stream) / 2
	d := NewDecoder(1 << 14)
	run := func() {
		for _, piece := range [][]byte{stream, stream[:half], stream[half:]} {
			d.Feed(piece)
			for _, ok := d.Next(); ok; {
				_, ok = d.Next()
			}
		}
	}
	run() // lets held grow
	if n := testing.AllocsPerRun(100, run); n != 0 {
		t.Errorf("decoding allocates %v times, want 0", n)
	}
}

// FuzzDecoder checks that tokens do not depend on where the stream is cut.
func FuzzDecoder(f *testing.F) {
	f.Add([]byte("+$OK#9a%Stop:T05#99\x03$ab$c#63$123456789#dd"), byte(3))
	f.Add([]byte("$abc#$OK#9a-$OK#9"), byte(1))
	f.Fuzz(func(t *testing.T, stream []byte, size byte) {
		whole := decode(64, string(stream))
		var pieces []string
		for p := range slices.Chunk(stream, int(size)+1) {
			pieces = append(pieces, string(p))
		}
		if diff := cmp.Diff(whole, decode(64, pieces...)); diff != "" {
			t.Errorf("in pieces of %d bytes (-whole +pieces):\n%s", int(size)+1, diff)
		}
	})
}

// FuzzRoundTrip checks that what is sent arrives, whatever it is and however it is cut.
func FuzzRoundTrip(f *testing.F) {
	f.Add([]byte("X401131,4:\x7d\x23\x24\x2a"), []byte("Stop:T05"), byte(2))
	f.Add([]byte{}, []byte("}"), byte(0))
	f.Fuzz(func(t *testing.T, packet, notification []byte, size byte) {
		stream := AppendNotification(AppendPacket(nil, packet), notification)
		d := NewDecoder(len(stream))
		var got []string
		for piece := range slices.Chunk(stream, int(size)+1) {
			d.Feed(piece)
			for tok, ok := d.Next(); ok; tok, ok = d.Next() {
				plain, err := Unescape(nil, tok.Payload)
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, fmt.Sprintf("%v %q", tok.Kind, plain))
			}
		}
		want := []string{fmt.Sprintf("packet %q", packet), fmt.Sprintf("notification %q", notification)}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-sent +received):\n%s", diff)
		}
	})
}

func BenchmarkDecoder(b *testing.B) {
	for _, size := range []int{16, 256, 16 << 10} {
		stream := AppendPacket([]byte("+"), bytes.Repeat([]byte("0123456789abcdef"), size/16))
		b.Run(fmt.Sprintf("whole/%d", size), func(b *testing.B) { benchmarkDecoder(b, stream, len(stream)) })
	}
	stream := AppendPacket([]byte("+"), bytes.Repeat([]byte("0123456789abcdef"), 1<<10))
	b.Run("pieces/16384", func(b *testing.B) { benchmarkDecoder(b, stream, 1460) })
}

func benchmarkDecoder(b *testing.B, stream []byte, piece int) {
	d := NewDecoder(1 << 20)
	b.SetBytes(int64(len(stream)))
	b.ReportAllocs()
	for b.Loop() {
		for p := range slices.Chunk(stream, piece) {
			d.Feed(p)
			for _, ok := d.Next(); ok; {
				_, ok = d.Next()
			}
		}
	}
}
