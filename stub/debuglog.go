package stub

import (
	"fmt"
	"io"
	"strings"
	"time"

	"tracewell/target"
)

// DebugLog is what servers say of their own working, for whoever has to find out why a client and they do not get on. It
// is off until one of its switches is set, by whoever made it or by the client's monitor commands. Like the servers that
// write to it, it is for one goroutine at a time.
type DebugLog struct {
	// Open opens the file of "monitor set debug-file"; without it there is only the usual output.
	Open func(path string) (io.WriteCloser, error)

	Events         bool // what the program does, and what it is told to do
	Packets        bool // packets, in both directions
	HardwarePoints bool // packets about hardware breakpoints and watchpoints, which Packets includes
	EventLoop      bool // kept for gdbserver's users; there is nothing to tell
	Timestamps     bool // at the front of each line, the time of day

	usual io.Writer
	file  io.WriteCloser // in place of usual, or nil
}

// NewDebugLog returns a log that writes to w.
func NewDebugLog(w io.Writer) *DebugLog { return &DebugLog{usual: w} }

// SetFormat chooses what each line has besides its message, from words with commas between them: "timestamp" or "all", and
// "none". It returns what gdbserver replies to the choice, and for an unknown word an error in its words.
func (d *DebugLog) SetFormat(list string) (says string, err error) {
	d.Timestamps = false
	for _, word := range strings.Split(strings.TrimLeft(list, " \t"), ",") {
		switch word {
		case "":
		case "all":
			d.Timestamps = true
			says += "All extra debug format options enabled.\n"
		case "none":
			d.Timestamps = false
			says += "All extra debug format options disabled.\n"
		case "timestamp":
			d.Timestamps = true
			says += "Timestamps will be added to debug output.\n"
		default:
			//lint:ignore ST1005 gdbserver's words, which are printed as they are
			return says, fmt.Errorf("Unknown debug-format argument: \"%s\"", word)
		}
	}
	return says, nil
}

// SetFile has the log written to a file from now on, to the usual output with the empty path. After an error everything is
// as before.
func (d *DebugLog) SetFile(path string) error {
	var file io.WriteCloser
	if path != "" {
		if d.Open == nil {
			return fmt.Errorf("cannot write to %q: this server opens no files", path)
		}
		var err error
		if file, err = d.Open(path); err != nil {
			return err
		}
	}
	d.Close()
	d.file = file
	return nil
}

// Close closes the file. The log goes on in the usual output.
func (d *DebugLog) Close() error {
	if d.file == nil {
		return nil
	}
	err := d.file.Close()
	d.file = nil
	return err
}

func (d *DebugLog) received(payload []byte) {
	// Payloads are logged as they came, escapes and all, quoted: a log of binary packets stays one line each.
	if d.Packets || d.HardwarePoints && hardwarePoint(payload) {
		d.printf("received %q", payload)
	}
}

func (d *DebugLog) sent(payload []byte) {
	if d.Packets {
		d.printf("sent     %q", payload)
	}
}

func (d *DebugLog) resumed(actions []target.Action) {
	if d.Events {
		for _, a := range actions {
			d.printf("resume   %v verb %d, signal %d", a.Thread, a.Verb, a.Signal)
		}
	}
}

func (d *DebugLog) happened(ev target.Event) {
	if d.Events {
		d.printf("event    %v kind %d, signal %d", ev.Thread, ev.Kind, ev.Signal)
	}
}

// hardwarePoint reports whether a packet inserts or removes a hardware breakpoint or a watchpoint.
func hardwarePoint(payload []byte) bool {
	return len(payload) > 1 && (payload[0] == 'Z' || payload[0] == 'z') && payload[1] > '0' && payload[1] <= '4'
}

// printf writes one line. A log that cannot be written is no reason to stop.
func (d *DebugLog) printf(format string, args ...any) {
	line := make([]byte, 0, 128)
	if d.Timestamps {
		line = time.Now().AppendFormat(line, "15:04:05.000000 ")
	}
	line = append(fmt.Appendf(line, format, args...), '\n')
	w := d.usual
	if d.file != nil {
		w = d.file
	}
	_, _ = w.Write(line)
}
