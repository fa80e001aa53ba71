package reply

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/rsp"
)

// TestStop reads stop replies of gdbserver, QEMU, OpenOCD, vgdb and Tracewell, and writes them again. same is false where the
// order of the items is another than gdbserver's.
func TestStop(t *testing.T) {
	multi := func(pid, tid int) *rsp.Thread { return &rsp.Thread{PID: pid, TID: tid, Multiprocess: true} }
	for _, test := range []struct {
		text string
		want Stop
		same bool
	}{
		{"T05swbreak:;06:a0fd;10:xxxx;thread:p91.92;core:3;", Stop{Kind: 'T', Number: 5, Reason: "swbreak",
			Registers: []Register{{6, "a0fd"}, {0x10, "xxxx"}}, Thread: multi(0x91, 0x92), Core: 3}, true},
		{"T02thread:01;", Stop{Kind: 'T', Number: 2, Thread: &rsp.Thread{TID: 1}, Core: -1}, false},
		{"T05thread:p1.1;watch:404000;", Stop{Kind: 'T', Number: 5, Reason: "watch", Detail: "404000", Thread: multi(1, 1), Core: -1}, false},
		{"T05fork:p2.2;thread:p1.1;", Stop{Kind: 'T', Number: 5, Reason: "fork", Detail: "p2.2", Thread: multi(1, 1), Core: -1}, true},
		{"T05reason:exception;description:6869;thread:p1.1;", Stop{Kind: 'T', Number: 5, Reason: "reason", Detail: "exception",
			Description: "6869", Thread: multi(1, 1), Core: -1}, true},
		{"T05", Stop{Kind: 'T', Number: 5, Core: -1}, true},
		{"T00", Stop{Kind: 'T', Core: -1}, true},
		{"S0b", Stop{Kind: 'S', Number: 11, Core: -1}, true},
		{"W00", Stop{Kind: 'W', Core: -1}, true},
		{"Wff;process:1a", Stop{Kind: 'W', Number: 255, PID: 0x1a, Core: -1}, true},
		{"X09;process:1a", Stop{Kind: 'X', Number: 9, PID: 0x1a, Core: -1}, true},
		{"w03;p1.2", Stop{Kind: 'w', Number: 3, Thread: multi(1, 2), Core: -1}, true},
		{"N", Stop{Kind: 'N', Core: -1}, true},
	} {
		got, err := Stopped.Parse(test.text)
		if diff := cmp.Diff(test.want, got); diff != "" || err != nil {
			t.Errorf("%q: %v (-want +got):\n%s", test.text, err, diff)
			continue
		}
		if ended := test.text[0] == 'W' || test.text[0] == 'X'; got.Ended() != ended {
			t.Errorf("%q: Ended is %v", test.text, !ended)
		}
		written := string(Stopped.Append(nil, got))
		if test.same != (written == test.text) {
			t.Errorf("%q is written as %q", test.text, written)
		}
		if again, err := Stopped.Parse(written); err != nil || !cmp.Equal(again, got) {
			t.Errorf("%q is written as %q, which is %+v, %v", test.text, written, again, err)
		}
	}
}

// TestNoStop: of a text that is no stop reply, nothing is kept as the kind of one, and a kind that there is not is not written.
func TestNoStop(t *testing.T) {
	for _, text := range []string{"", "Q05", "t05", "OK", "\x00", "\x0105"} {
		if s, err := Stopped.Parse(text); err == nil || s.Kind != 0 {
			t.Errorf("%q is a stop of kind %q, %v", text, s.Kind, err)
		}
	}
	for _, s := range []Stop{{}, {Kind: 'Q', Number: 5}} {
		if got := Stopped.Append(nil, s); len(got) > 0 {
			t.Errorf("%+v is written as %q", s, got)
		}
	}
}

// FuzzStop reads any reply: what is refused is so as a syntax error, and what is read is the same when it is written.
func FuzzStop(f *testing.F) {
	for _, text := range []string{"T05swbreak:;06:a0fd;thread:p91.92;core:3;", "W00;process:1", "X09", "w00;1", "N", "S05", "", "T", "T0", "T05x", "TXX"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Stopped.Parse(text)
		var syntax *rsp.SyntaxError
		if errors.As(err, &syntax) && syntax.Offset <= len(syntax.Text) {
			return
		}
		again, failed := Stopped.Parse(string(Stopped.Append(nil, s)))
		if err != nil || failed != nil || !cmp.Equal(s, again) {
			t.Errorf("%q is %+v, %v; written it is %+v, %v", text, s, err, again, failed)
		}
	})
}
