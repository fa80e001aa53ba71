package rsp

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write golden files instead of comparing with them")

// gdbserverSession is what gdbserver 13.1 on x86-64 Debian sent over a pipe in answer to qSupported, QStartNoAckMode, ?,
// g and qTStatus, for a program stopped at its entry. The file .tokens beside it says what that means.
const gdbserverSession = "testdata/gdbserver-13.1.session"

func TestSession(t *testing.T) {
	stream, err := os.ReadFile(gdbserverSession)
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	d := NewDecoder(0x47ff)
	d.Feed(stream)
	for tok, ok := d.Next(); ok; tok, ok = d.Next() {
		if tok.Payload, err = ExpandRuns(nil, tok.Payload); err != nil {
			t.Error(err)
		}
		fmt.Fprintln(&got, tok)
	}

	golden := strings.TrimSuffix(gdbserverSession, "session") + "tokens"
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("tokens (-want +got):\n%s", diff)
	}
}
