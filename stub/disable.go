package stub

// disabled are the names of packets that the server is to do without, see Config.Disable.
type disabled map[string]bool

// newDisabled reads names as gdbserver's option --disable-packet takes them.
func newDisabled(names []string) disabled {
	d := make(disabled)
	for _, name := range names {
		d[name] = true
		// What this stands for is gdbserver's list.
		if name == "threads" {
			for _, part := range []string{"vCont", "Tthread", "qC", "qfThreadInfo"} {
				d[part] = true
			}
		}
	}
	return d
}

// stopThread reports whether stop replies are to leave out the thread.
func (d disabled) stopThread() bool { return d["Tthread"] }

// stopDetails reports whether stop replies are to be of the oldest kind, which tell the signal only.
func (d disabled) stopDetails() bool { return d["T"] }

// packet reports whether a row is not to be served. T means stop replies, and vCont all packets that begin so.
func (d disabled) packet(p *packet) bool {
	name := p.Name()
	// The question without the packet would be misleading.
	if name == "vCont?" {
		name = "vCont"
	}
	return name != "T" && d[name]
}
