// Command hide runs a stub that talks on its standard input and output, such as gdbserver with "-" in place of a port, and hides
// from its client that it has tracepoints: no feature of qSupported speaks of them, and their packets are unknown. All else passes
// as it is.
//
//	hide COMMAND [ARG]…
package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"tracewell/internal/routine"
	"tracewell/rsp"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: hide COMMAND [ARG]…")
		os.Exit(2)
	}
	if err := relay(exec.Command(os.Args[1], os.Args[2:]...)); err != nil {
		fmt.Fprintln(os.Stderr, "hide:", err)
		os.Exit(1)
	}
}

// relay runs the stub until either side ends.
func relay(stub *exec.Cmd) error {
	stub.Stderr = os.Stderr
	in, err := stub.StdinPipe()
	if err != nil {
		return err
	}
	out, err := stub.StdoutPipe()
	if err != nil {
		return err
	}
	if err := stub.Start(); err != nil {
		return err
	}
	routine.Go(func() {
		_ = pass(in, os.Stdin, asked)
		in.Close() // which the stub takes for the end of its client
	})
	return errors.Join(pass(os.Stdout, out, answered), stub.Wait())
}

// pass copies a side of the conversation to its end, with packets as they are changed.
func pass(to io.Writer, from io.Reader, change func(payload []byte) []byte) error {
	decoder, b := rsp.NewDecoder(1<<24), make([]byte, 1<<16)
	for {
		n, err := from.Read(b)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		decoder.Feed(b[:n])
		var out []byte
		for token, ok := decoder.Next(); ok; token, ok = decoder.Next() {
			switch token.Kind {
			case rsp.Packet:
				out = frame(out, '$', change(token.Payload))
			case rsp.Notification:
				out = frame(out, '%', token.Payload)
			case rsp.Ack:
				out = append(out, '+')
			case rsp.Nak:
				out = append(out, '-')
			case rsp.Interrupt:
				out = append(out, 3)
			}
		}
		if _, err := to.Write(out); err != nil {
			return err
		}
	}
}

// frame appends a packet whose payload is escaped as it has to be.
func frame(out []byte, head byte, payload []byte) []byte {
	sum := byte(0)
	for _, c := range payload {
		sum += c
	}
	out = append(append(out, head), payload...)
	return fmt.Appendf(out, "#%02x", sum)
}

// asked changes packets of tracepoints, and qTStatus among them, into one that no stub knows.
func asked(payload []byte) []byte {
	if bytes.HasPrefix(payload, []byte("QT")) || bytes.HasPrefix(payload, []byte("qT")) && !bytes.HasPrefix(payload, []byte("qTh")) {
		return []byte("qUnknown")
	}
	return payload
}

// hidden are beginnings of the names of features that have to do with tracepoints.
var hidden = []string{
	"ConditionalTracepoints", "TraceStateVariables", "TracepointSource", "FastTracepoints", "StaticTracepoints", "InstallInTrace",
	"EnableDisableTracepoints", "tracenz", "QTBuffer", "DisconnectedTracing", "qXfer:traceframe-info", "qXfer:statictrace",
}

// answered takes the features out of the reply to qSupported.
func answered(payload []byte) []byte {
	if !bytes.HasPrefix(payload, []byte("PacketSize=")) {
		return payload
	}
	var kept []string
	for item := range strings.SplitSeq(string(payload), ";") {
		known := true
		for _, name := range hidden {
			known = known && !strings.HasPrefix(item, name)
		}
		if known {
			kept = append(kept, item)
		}
	}
	return []byte(strings.Join(kept, ";"))
}
