package record

import (
	"fmt"

	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/internal/text"
	"tracewell/record/plan"
	"tracewell/record/remote"
	"tracewell/trace"
)

// remoteConfig is the configuration of a run at a server. PID and follow have been refused by check; a program is only the file
// with the names, since the server has launched its own.
func (c *Command) remoteConfig(p *plan.Plan, output string, streams console.Streams) remote.Config {
	return remote.Config{Config: c.config(p, output, streams), Address: c.Remote, Disconnected: c.Disconnected}
}

// leave starts a run at a server and disconnects from it (QTDisconnected:1). Nothing is written here, so an interrupted command
// loses no frames: --fetch gets them, from this machine or another.
func (c *Command) leave(p *plan.Plan, streams console.Streams) error {
	status := newRunStatus(streams.Err, c.Quiet, false)
	config := c.remoteConfig(p, "", streams)
	session, err := whileReading(streams.Err, &config.Symbols, func() (*remote.Session, error) { return remote.Open(config) })
	if err != nil {
		return fmt.Errorf("record: %w", err)
	}
	defer session.Close()
	for _, w := range session.Warnings() {
		status.warn(w)
	}
	status.points(session.Points())
	// Locations are printed before the run is on, as nothing is printed of it later.
	if err := session.Leave(); err != nil {
		return fmt.Errorf("record: %s: %w", c.Remote, err)
	}
	status.say("%s traces on; tracewell record --remote %s --fetch writes what it has recorded", text.Visible(c.Remote),
		text.Visible(c.Remote))
	return nil
}

// fetch writes the frames of a run that leave has started, or GDB. The tracepoints are those that the server uploads (qTfP), so
// no plan is needed; the run goes on unless --stop ends it.
func (c *Command) fetch(streams console.Streams) error {
	path, err := c.output(streams)
	if err != nil {
		return err
	}
	status := newRunStatus(streams.Err, c.Quiet, false)
	config := c.remoteConfig(&plan.Plan{}, path, streams)
	fetched, err := whileReading(streams.Err, &config.Symbols, func() (remote.Fetched, error) { return remote.Fetch(config, c.Stop) })
	if err != nil {
		return fmt.Errorf("record: %w", err)
	}
	// Where the program lay is what show needs to find names in a position-independent one. Without it the frames are whole all the
	// same.
	if fetched.Unnamed != nil {
		status.warn(fmt.Errorf("the file does not say where the program lay: %w", fetched.Unnamed))
	}
	status.say("%s, %s, in %s: %s", text.Plural(fetched.Frames, "frame"), sizeText(fetched.Bytes), text.Visible(path),
		leftText(fetched.Status))
	return nil
}

// leftText is the state of the run at the server, from its reply to qTStatus. The description of tstop or terror is the server's
// text, so it is made visible.
func leftText(st trace.Status) string {
	switch {
	case st.Running:
		return "the run goes on"
	case st.Reason == trace.ReasonFull:
		return "the buffer is full"
	case st.Reason == trace.ReasonPassCount:
		return fmt.Sprintf("tracepoint %d has reached its pass count", st.Tracepoint)
	case st.Description != "":
		return "the run has ended: " + text.Visible(st.Description)
	}
	return "the run has ended"
}
