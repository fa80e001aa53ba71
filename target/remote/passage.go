package remote

import (
	"bytes"
	"slices"
	"strings"

	"tracewell/rsp"
	"tracewell/rsp/client"
	"tracewell/target"
)

// passing are the beginnings of packets that a stub may know and a target does not. None resumes anything, or inserts any.
var passing = []string{
	"qRcmd,", "qXfer:", "vFlashErase:", "vFlashWrite:", "vFlashDone", "qOffsets", "qGetTLSAddr:", "qGetTIBAddr:", "vFile:",
	"qqemu.", "Qqemu.", // whether addresses are physical, and whether interrupts are on in steps
}

// Passage implements target.Groups.
func (t *Target) Passage() target.Passage { return t }

// Announced implements target.Passage: objects, of which clients ask only for those that they were told of.
func (t *Target) Announced() (list []string) {
	for _, f := range t.c.Features() {
		if strings.HasPrefix(f.Name, "qXfer:") && f.Mark == rsp.Supported {
			list = append(list, f.Name+"+")
		}
	}
	return list
}

// Takes implements target.Passage.
func (t *Target) Takes(packet []byte) bool {
	begins := func(prefix string) bool { return bytes.HasPrefix(packet, []byte(prefix)) }
	return slices.ContainsFunc(passing, begins) || t.recording && slices.ContainsFunc(recorded, begins)
}

// Pass implements target.Passage. What it does to registers and memory nobody knows, so all is asked for again.
func (t *Target) Pass(id target.ThreadID, packet []byte, console func(text []byte)) (text string, err error) {
	err = t.do(func() error {
		if err := t.present(id); err != nil {
			return err
		}
		if err := t.choose(id); err != nil {
			return err
		}
		usual := t.c.Console
		t.c.Console = console
		defer func() { t.c.Console = usual }()
		t.forget()
		if text, err = t.c.Exchange(packet); err != nil {
			return t.check(err)
		}
		if resets(packet) {
			return t.renew(true)
		}
		return nil
	})
	return text, err
}

// With calls f with the connection while the program stands still, for packets that no method sends.
func (t *Target) With(f func(c *client.Client) error) error {
	return t.do(func() error {
		if t.lost() != nil {
			return t.lost()
		}
		t.forget()
		return t.check(f(t.c))
	})
}

// SetConsole implements target.Passage.
func (t *Target) SetConsole(console func(text []byte)) {
	_ = t.do(func() error {
		t.c.Console, t.attended = t.console, console != nil
		if console != nil {
			t.c.Console = console
		}
		return nil
	})
}
