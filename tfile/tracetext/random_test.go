package tracetext

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"testing"

	"tracewell/arch"
	"tracewell/tfile"
)

// TestRandomFiles makes text of files that are put together of right and wrong parts at random, and the files of it again.
func TestRandomFiles(t *testing.T) {
	const files = 1000
	decoded := 0
	for seed := range uint64(files) {
		g := &generator{Rand: rand.New(rand.NewPCG(seed, 5))}
		data, order := g.file()
		var opts []Option
		if g.likely() {
			opts = append(opts, WithOrder(order))
		}
		text := textOf(t, data, opts...)
		if got := bytesOf(t, text); !bytes.Equal(got, data) {
			t.Fatalf("seed %d: came back as\n%s\ninstead of\n%s\nby way of\n%s", seed, hex.Dump(got), hex.Dump(data), text)
		}
		if bytes.Contains([]byte(text), []byte("\nend")) {
			decoded++
		}
	}
	if decoded < files/4 {
		t.Errorf("only %d of %d files could be read up to their end marker", decoded, files)
	}
}

// generator makes trace files.
type generator struct {
	*rand.Rand
	order arch.ByteOrder
	data  []byte
}

func (g *generator) likely() bool      { return g.IntN(8) > 0 }
func (g *generator) text(of ...string) { g.data = append(g.data, of[g.IntN(len(of))]...) }

func (g *generator) file() ([]byte, arch.ByteOrder) {
	for {
		g.one()
		if g.likely() {
			break
		}
	}
	if g.likely() {
		return g.data, g.order
	}
	cut := len(tfile.Magic) + g.IntN(len(g.data)-len(tfile.Magic)+1)
	return g.data[:cut], g.order
}

func (g *generator) one() {
	g.order = binary.LittleEndian
	if g.IntN(2) == 0 {
		g.order = binary.BigEndian
	}
	g.text(tfile.Magic)
	for range g.IntN(12) {
		g.line()
	}
	g.text("\n")
	for range g.IntN(6) {
		g.frame()
	}
	g.text("", "\x00\x00", "\x00\x00\x00", "\x00\x00\x00\x00", "\x00\x00\x00\x00", "\x00\x00\x00\x00", "\x00\x00\x00\x00\x00", "\x00\x00x")
}

var definitionLines = []string{
	"R 8", "R 10", "R 0", "R 8 ", "r 8",
	`tdesc <target><feature name="f"><reg name="a" bitsize="32"/><reg name="b" bitsize="64"/></feature></target>`,
	`tdesc <target><feature name="f"><reg name="end" bitsize="16"/><reg name="c" bitsize="24"/>` +
		`<reg name="c" bitsize="8"/></feature></target>`,
	"tdesc ", "tdesc", "tdesc\t<target>", "tdesc  x ",
	"status 0", "status 1;tunknown:0", "status 0;;", "status 0;tframes:0b;tfree:B", "status 0;terror::3;circular:1;disconn:0",
	"status 0;tstop:6162:0;tframes:b;starttime:451338cf;stoptime:6163c0d8f2c40;notes:22c3a4ff;username:",
	"tsv 1:0:1:61", "tsv 2:fffffffffffffffb:0:6162", "tsv 2:0:0:62", "tsv 3:0:0:61", "tsv 4:00:0:63",
	"tp T1:10:E:0:0", "tp T2:20:D:4:a:F5:X3,220027", "tp T2:20:E:0:0:S",
	"tp T3:30:E:0:0:X13,26000622100222dc1608021916202203130e27",
	"tp A1:10:R1f", "tp A1:10:M-1,404020,4", "tp A2:20:M6,ffffffff,10R0fX00000008,2c00022e00022927L", "tp A2:20:", "tp S2:20:L",
	"tp A2:20:X00000009,240040408022200c27", "tp A1:10:X00000003,200001", "tp A1:10:X00000004,20000027",
	"tp Z1:10:at:0:3:666f6f", "tp Z1:10:cond:0:1:ff", "tp Z2:20:cmd:0:2:0a22", "tp Z2:20:cmd:1:2:0a",
	"tp V1:10:11:27566", "tp V1:10:0011:1",
	"what", "", `line "R 8"`, "# R 8", " R 8",
}

// line adds a definition line: one of those below, sometimes with a byte of it changed.
func (g *generator) line() {
	start := len(g.data)
	g.text(definitionLines...)
	if at := start + g.IntN(len(g.data)-start+1); !g.likely() && at < len(g.data) {
		g.data[at] = byte(g.IntN(256))
	}
	if g.likely() {
		g.text("\n")
	} else {
		g.text("\r\n", "\n", "\x00\n", " \n")
	}
}

// frame adds a frame, sometimes with a wrong length or with something that is no block.
func (g *generator) frame() {
	start := len(g.data)
	number := uint16(1 + g.IntN(3))
	if !g.likely() {
		number = uint16(g.Uint32())
	}
	g.data = g.order.AppendUint16(g.data, number)
	g.data = g.order.AppendUint32(g.data, 0)
	for range g.IntN(6) {
		g.block()
	}
	length := len(g.data) - start - tfile.FrameHeader
	if !g.likely() {
		length += g.IntN(9) - 4
	}
	g.order.PutUint32(g.data[start+2:], uint32(length))
}

func (g *generator) block() {
	switch kind := "RMVS?"[g.IntN(5)]; {
	case kind == 'R':
		g.data = append(g.data, 'R')
		g.bytes([]int{8, 8, 16, 16, 10}[g.IntN(5)])
	case kind == 'M':
		g.data = g.order.AppendUint64(append(g.data, 'M'), []uint64{0, 0x404080, 1<<64 - 4}[g.IntN(3)])
		g.sized()
	case kind == 'S':
		g.data = append(g.data, 'S')
		g.sized()
	case kind == 'V':
		g.data = g.order.AppendUint32(append(g.data, 'V'), uint32(g.IntN(5)-1))
		g.data = g.order.AppendUint64(g.data, g.Uint64()>>g.IntN(64)-uint64(g.IntN(2)))
	case !g.likely():
		g.bytes(1 + g.IntN(40))
	}
}

// sized adds bytes behind their number.
func (g *generator) sized() {
	n := []int{0, 1, 15, 16, 17, 32, 33, tfile.MaxBlock}[g.IntN(8)]
	if n == tfile.MaxBlock && g.likely() {
		n = 4
	}
	g.data = g.order.AppendUint16(g.data, uint16(n))
	g.bytes(n)
}

// bytes adds bytes of which many are zero.
func (g *generator) bytes(n int) {
	for range n {
		b := byte(g.Uint32())
		if g.IntN(3) > 0 {
			b = 0
		}
		g.data = append(g.data, b)
	}
}
