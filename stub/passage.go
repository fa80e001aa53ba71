package stub

import (
	"bytes"
	"encoding/hex"
	"errors"
	"strings"

	"tracewell/rsp"
	"tracewell/rsp/request"
	"tracewell/target"
)

// passOn hands a packet that this server does not know on to the stub behind the target, and reports whether there is one that
// takes it.
func (x *session) passOn(payload []byte) bool {
	p := x.target.Passage()
	if p == nil {
		return false
	}
	plain, err := rsp.Unescape(nil, payload)
	if err != nil || !p.Takes(plain) {
		return false
	}
	text, err := x.handOn(plain)
	switch {
	case errors.Is(err, target.ErrRunning):
		x.send([]byte("E01"))
	case err != nil:
		x.send(nil)
	default:
		x.send([]byte(text))
	}
	return true
}

// handOn has the stub behind the target answer a packet for the selected thread.
func (x *session) handOn(plain []byte) (string, error) {
	if x.debuggee.Running() {
		return "", target.ErrRunning
	}
	id, err := x.thread()
	if err != nil {
		return "", err
	}
	return x.target.Passage().Pass(id, plain, func(text []byte) { x.console(string(text)) })
}

// announce appends what the stub behind the target offers and this server does not have itself.
func (x *session) announce(reply []byte) []byte {
	p := x.target.Passage()
	if p == nil {
		return reply
	}
	for _, token := range p.Announced() {
		if own, _ := x.lookup([]byte(strings.TrimRight(token, "+") + ":")); own == nil {
			reply = append(append(reply, ';'), token...)
		}
	}
	return reply
}

// ownWord begins the monitor commands of this server where all others are those of the stub behind the target.
const ownWord = "tracewell"

// monitorOf does a monitor command of the stub behind the target, and reports whether it is one.
func (x *session) monitorOf(line string) (bool, error) {
	p := x.target.Passage()
	if p == nil || line == ownWord || strings.HasPrefix(line, ownWord+" ") {
		return false, nil
	}
	packet := request.Monitor.Append(nil, line)
	if !p.Takes(packet) {
		return false, nil
	}
	text, err := x.handOn(packet)
	if line == "exit" && !errors.Is(err, target.ErrRunning) && x.goneBy(err) {
		x.exit = true // and so does this server
		return true, nil
	}
	switch {
	case err != nil:
		return true, err
	case text == "OK":
		return true, nil
	case text == "":
		x.console("The stub has no monitor commands of its own; those here begin with \"" + ownWord + "\".\n")
		return true, errMonitor
	case len(text) == 3 && text[0] == 'E':
		return true, errMonitor
	}
	said, err := hex.DecodeString(text)
	if err != nil {
		said = []byte(text + "\n")
	}
	x.console(string(said))
	return true, nil
}

// goneBy reports whether the stub behind the target has ended with the command that it was given. gdbserver answers it first.
func (x *session) goneBy(err error) bool {
	if err == nil {
		_, err = x.handOn(request.CurrentThread.Append(nil, request.None{}))
	}
	return err != nil
}

// listen has what the program prints through the stub behind the target come to the client while that waits for a stop.
func (x *session) listen() (stop func()) {
	p := x.target.Passage()
	if p == nil {
		return func() {}
	}
	x.printed = make(chan []byte, 64)
	p.SetConsole(func(text []byte) {
		select {
		case x.printed <- bytes.Clone(text):
		default: // the client does not read, and the program must not wait for that
		}
	})
	return func() { p.SetConsole(nil) }
}

// tellPrinted sends text of the program, if the client can take any.
func (x *session) tellPrinted(text []byte) error {
	if x.owed && x.debuggee.Running() {
		x.console(string(text))
		return x.flush()
	}
	return nil
}
