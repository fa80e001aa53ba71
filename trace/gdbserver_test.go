package trace_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/internal/test/testtool"
	"tracewell/rsp"
	"tracewell/trace"
)

// TestMasksAsGDBServer sends gdbserver action packets with masks of all lengths, among other actions, and compares what it made of
// each with what ParseQTDPActions makes.
func TestMasksAsGDBServer(t *testing.T) {
	const seed = 1
	random := rand.New(rand.NewPCG(seed, seed))
	client := rsp.NewClient(testtool.Connect(t, "gdbserver", "--once", "stdio", "/bin/true"))
	exchange := func(packet string) string {
		reply, err := client.Exchange(packet)
		if err != nil {
			t.Fatalf("seed %d: %s: %v", seed, packet, err)
		}
		return reply
	}
	exchange("Hg0") // QTinit wants a thread
	if exchange("QTinit") == "" {
		t.Skipf("gdbserver has no tracepoints on %s", runtime.GOARCH)
	}
	for number := 1; number <= 150; number++ {
		text := ""
		for range 1 + random.IntN(3) {
			text += "R" + digits(random, random.IntN(2*number+1))
			if random.IntN(2) == 0 {
				text += fmt.Sprintf("M-1,%x,%X", 0x400000+random.IntN(1<<20), 1+random.IntN(64))
			}
		}
		key := fmt.Sprintf("%x:401000", number)
		p, err := trace.ParseQTDPActions(key + ":" + text)
		if err != nil {
			t.Errorf("seed %d: %s: %v", seed, text, err)
		}
		var ours []string
		for _, a := range p.Actions {
			ours = append(ours, "A"+key+":"+plainMask(a.String()))
		}
		if exchange("QTinit") != "OK" || exchange("QTDP:"+key+":E:0:0-") != "OK" || exchange("QTDP:-"+key+":"+text) != "OK" {
			t.Fatalf("seed %d: gdbserver refuses %s", seed, text)
		}
		exchange("qTfP")
		var theirs []string
		for piece := exchange("qTsP"); piece != "l"; piece = exchange("qTsP") {
			key, action, _ := strings.Cut(piece, ":401000:")
			theirs = append(theirs, key+":401000:"+plainMask(action))
		}
		if diff := cmp.Diff(theirs, ours); diff != "" {
			t.Errorf("seed %d: %s (-gdbserver +here):\n%s", seed, text, diff)
		}
	}
}

// digits are n hexadecimal ones.
func digits(random *rand.Rand, n int) string {
	var b strings.Builder
	for range n {
		b.WriteByte("0123456789abcdef"[random.IntN(16)])
	}
	return b.String()
}

// plainMask takes the leading zeros off a mask: gdbserver keeps those that were sent, and no others.
func plainMask(action string) string {
	if mask, isMask := strings.CutPrefix(action, "R"); isMask {
		return "R" + strings.TrimLeft(mask, "0")
	}
	return action
}
