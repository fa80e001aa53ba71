package record

import (
	"errors"
	"fmt"

	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/internal/text"
	"tracewell/record"
	"tracewell/record/left"
	"tracewell/record/plan"
	"tracewell/rsp/client"
	"tracewell/target/remote"
	"tracewell/trace"
)

// leave starts a run at a stub and disconnects from it (QTDisconnected:1). Nothing is written here, so an interrupted command
// loses no frames: --fetch gets them, from this machine or another.
func (c *Command) leave(p *plan.Plan, streams console.Streams) error {
	status := newRunStatus(streams.Err, c.Quiet, false)
	status.verbose = c.Verbose
	// The target is needed besides the session, whose definitions go to the stub as they are.
	config := c.config(p, "", streams).Config
	var on *remote.Target
	session, err := whileReading(streams.Err, &config.Symbols, func() (session *record.Session, err error) {
		session, on, err = c.openPeer(config, streams)
		return session, err
	})
	if err != nil {
		return fmt.Errorf("record: %w", err)
	}
	// Locations are printed before the run is on, as nothing is printed of it later.
	for _, w := range session.Warnings() {
		status.warn(w)
	}
	status.points(session.Points())
	// Nobody would resume a thread that reports a library after this client has left.
	for _, p := range session.Points() {
		if p.Pending != nil {
			status.warn(fmt.Errorf("tracepoint %d: libraries that are loaded from now on are not looked at", p.Number))
		}
	}
	run := left.Run{
		Definitions: session.Header(), Semaphores: session.Semaphores(), Buffer: config.Buffer, Circular: config.Circular,
	}
	// Breakpoints end with the connection, or worse, stay and stop the program for nobody.
	err = errors.New("the stub has no tracepoints, so the run can't be left to it")
	if on.Tracer().Collector() != nil {
		err = on.With(func(stub *client.Client) error { return left.Start(stub, run) })
	}
	// The end of the session detaches from the program, whatever has become of the run.
	if err = errors.Join(err, session.Close()); err != nil {
		return fmt.Errorf("record: %s: %w", c.To, err)
	}
	status.say("%s traces on; tracewell record --to %s --fetch writes what it has recorded", text.Visible(c.To),
		text.Visible(c.To))
	return nil
}

// fetch writes the frames of a run that leave has started, or GDB. The tracepoints are those that the stub uploads (qTfP), so
// no plan is needed; the run goes on unless --stop ends it.
func (c *Command) fetch(streams console.Streams) error {
	output, err := c.output(streams)
	if err != nil {
		return err
	}
	options, err := c.StubOptions.Read("", descriptionRules, streams)
	if err != nil {
		return fmt.Errorf("record: %w", err)
	}
	// No target is made of the stub: that would stop the program, which goes on at a stub with non-stop mode.
	address, err := remote.ParseAddress(c.To)
	if err != nil {
		return fmt.Errorf("record: %w", err)
	}
	conn, err := address.Dial()
	if err != nil {
		return fmt.Errorf("record: %w", err)
	}
	stub := client.New(conn)
	stub.Patience = remote.UsualPatience
	fetched, err := left.Fetch(stub, left.Request{
		Output: output.path, Program: c.executable(), Description: options.Description, MaxFrames: int64(c.Frames), Stop: c.Stop,
	})
	if err = errors.Join(err, conn.Close(), output.deliver(streams.Out)); err != nil {
		return fmt.Errorf("record: %s: %w", c.To, err)
	}
	status := newRunStatus(streams.Err, c.Quiet, false)
	// Where the program lay is what show needs to find names in a position-independent one. Without it the frames are whole all the
	// same.
	if fetched.Unnamed != nil {
		status.warn(fmt.Errorf("the file does not say where the program lay: %w", fetched.Unnamed))
	}
	status.say("%s, %s, in %s: %s", text.Plural(fetched.Frames, "frame"), sizeText(fetched.Bytes), text.Visible(output.String()),
		leftText(fetched.Status))
	return nil
}

// leftText is the state of the run at the stub, from its reply to qTStatus. The description of tstop or terror is the stub's
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
