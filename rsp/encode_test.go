package rsp

import (
	"bytes"
	"fmt"
	"testing"
)

func TestAppendFrames(t *testing.T) {
	tests := []struct {
		payload, packet, notification string
	}{
		{"", "$#00", "%#00"},
		{"OK", "$OK#9a", "%OK#9a"},
		{"vCont?", "$vCont?#49", "%vCont?#49"},
		{"a#b$c}d*e", "$a}\x03b}\x04c}]d}\ne#51", "%a}\x03b}\x04c}]d}\ne#51"},
	}
	for _, tt := range tests {
		if got := string(AppendPacket([]byte("+"), []byte(tt.payload))); got != "+"+tt.packet {
			t.Errorf("AppendPacket of %q to \"+\" = %q, want %q", tt.payload, got, "+"+tt.packet)
		}
		if got := string(AppendNotification(nil, []byte(tt.payload))); got != tt.notification {
			t.Errorf("AppendNotification of %q = %q, want %q", tt.payload, got, tt.notification)
		}
	}
}

func TestChecksum(t *testing.T) {
	b := bytes.Repeat([]byte{0xff, 0x80, 0x01, 0x7f, 0xfe}, 200)
	var want byte
	for n := range b {
		if got := checksum(b[:n]); got != want {
			t.Fatalf("checksum of %d bytes = %#x, want %#x", n, got, want)
		}
		want += b[n]
	}
}

func TestAppendAllocations(t *testing.T) {
	payload := bytes.Repeat([]byte("binary }*#$ bytes "), 100)
	buf := make([]byte, 0, 2*len(payload)+4)
	if n := testing.AllocsPerRun(100, func() { buf = AppendPacket(buf[:0], payload) }); n != 0 {
		t.Errorf("AppendPacket into enough room allocates %v times, want 0", n)
	}
}

func BenchmarkAppendPacket(b *testing.B) {
	random := make([]byte, 16<<10) // 1 byte in 64 needs an escape, as in random memory
	for i := range random {
		random[i] = byte(i*167 + i>>8)
	}
	payloads := map[string][]byte{
		"OK":           []byte("OK"),
		"hex/16384":    bytes.Repeat([]byte("0123456789abcdef"), 1<<10),
		"binary/16384": random,
	}
	for name, payload := range payloads {
		b.Run(name, func(b *testing.B) {
			buf := make([]byte, 0, 2*len(payload)+4)
			b.SetBytes(int64(len(payload)))
			b.ReportAllocs()
			for b.Loop() {
				buf = AppendPacket(buf[:0], payload)
			}
		})
	}
}

func ExampleAppendPacket() {
	fmt.Printf("%s\n", AppendPacket(nil, []byte("qTStatus")))
	// Output: $qTStatus#49
}
