//go:build linux

package sys

import (
	"bytes"
	"io"
	"testing"
	"time"
)

// TestSerialIsRaw: no byte that a packet may hold is changed, swallowed or echoed on the way, and closing ends a read.
func TestSerialIsRaw(t *testing.T) {
	master, path, err := OpenTerminalPair()
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	line, err := OpenSerial(path)
	if err != nil {
		t.Fatal(err)
	}
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	for _, way := range []struct {
		name     string
		from, to io.ReadWriter
	}{{"to the line", master, line}, {"from the line", line, master}} {
		if _, err := way.from.Write(all); err != nil {
			t.Fatal(err)
		}
		got := make([]byte, len(all))
		if _, err := io.ReadFull(way.to, got); err != nil || !bytes.Equal(got, all) {
			t.Errorf("%s: %x, %v", way.name, got, err)
		}
	}

	closed := make(chan error, 1)
	go func() {
		_, err := line.Read(make([]byte, 1))
		closed <- err
	}()
	line.Close()
	select {
	case err := <-closed:
		if err == nil {
			t.Error("something was read from a closed line")
		}
	case <-time.After(time.Minute):
		t.Error("closing the line does not end a read")
	}
}
