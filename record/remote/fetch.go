package remote

import (
	"errors"
	"fmt"

	"tracewell/arch"
	"tracewell/record/output"
	"tracewell/rsp/client"
	"tracewell/rsp/reply"
	"tracewell/rsp/request"
	"tracewell/symbol"
	"tracewell/tfile"
	"tracewell/trace"
)

// Fetched describes the trace file that Fetch has made of a run that was left to a server.
type Fetched struct {
	Status trace.Status // of the run; it may be on
	Frames int64
	Bytes  int64
	// Unnamed says why the file does not tell where the files of the process lie, so that its addresses may have no
	// names.
	Unnamed error
}

// Fetch makes a trace file of what a server has recorded, of Session.Leave or of a GDB that has left it. A run that
// is on goes on afterwards, unless stop is set; the program is let go if it does not.
func Fetch(c Config, stop bool) (Fetched, error) {
	conn, err := dial(c.Address)
	if err != nil {
		return Fetched{}, fmt.Errorf("cannot connect to %s: %w", c.Address, reason(err))
	}
	// No finder and no plan: what was traced comes from the server.
	s := &Session{config: c, server: newServer(conn)}
	fetched, err := s.collect(stop)
	err = errors.Join(err, s.Close())
	if err != nil {
		err = fmt.Errorf("%s: %w", c.Address, err)
	}
	return fetched, err
}

// collect fetches the run over a connection. The status comes first: before anything is changed at the server it is
// clear whether it has a run at all.
func (s *Session) collect(stop bool) (result Fetched, err error) {
	if err := s.server.greet(); err != nil {
		return result, err
	}
	if err := s.learn(); err != nil {
		return result, err
	}
	// tnotrun: also what gdbserver says after QTinit.
	if st := &s.result.Status; !st.Running && st.Reason == trace.ReasonNotRun {
		return result, errors.New("the server has recorded nothing: no run has been started")
	}
	if s.server.Features().Has("QNonStop") { // so that nothing stops because of us
		if err := client.Command(s.server.Client, request.NonStop, true); err != nil {
			return result, err
		}
	}
	if stop {
		if err := s.server.command(request.TraceStop); err != nil {
			return result, err
		}
	}
	if err := s.describe(); err != nil {
		return result, err
	}
	h, err := s.upload()
	if err != nil {
		return result, err
	}
	// The files of the process may be gone by now, or the program ended.
	result.Unnamed = s.locate()
	h.Description = output.Describe(s.description, s.objects)
	if err := s.copyTo(h); err != nil {
		return result, err
	}
	result.Status, result.Frames, result.Bytes = s.result.Status, s.frames.count, s.frames.bytes
	if s.pid != 0 { // it stands still for nobody: the server resumes it where the run is on, and lets it go where it is over
		err = s.letGo()
	}
	return result, err
}

// locate reads the files of the process and their biases, which the trace file records so that addresses get names.
// The frames are good without: an error is part of the result and does not end Fetch.
func (s *Session) locate() error {
	s.sites, s.loaded = make(map[arch.Addr]bool), make(map[library]*symbol.Object)
	if err := s.identify(); err != nil {
		return err
	}
	if s.dynamic {
		if _, err := s.libraries(); err != nil {
			return err
		}
	}
	return nil
}

// upload asks the server for what it traces.
func (s *Session) upload() (h tfile.Header, err error) {
	h = tfile.Header{Order: s.isa.Order, RegisterSize: s.layout.Size, Status: &s.result.Status}
	list, err := client.List(s.server.Client, request.FirstVariable, request.MoreVariables, reply.Variables)
	if err != nil {
		return h, err
	}
	// The server lists the newest first; a file has them in the order of their definition.
	var variables trace.Variables
	for _, v := range list {
		variables.Add(v)
	}
	h.Variables = variables.List()
	var all trace.Upload
	err = s.server.Pieces(all.Add)
	if err == nil && len(all.Undefined()) > 0 {
		err = fmt.Errorf("the server gives parts of tracepoint %d, but not its definition", all.Undefined()[0].Number)
	}
	h.Tracepoints = all.Tracepoints()
	output.Arrange(h.Tracepoints)
	return h, err
}

// copyTo makes the file. Of a circular buffer that still fills nothing can be copied: what it holds moves.
func (s *Session) copyTo(h tfile.Header) error {
	if err := s.learn(); err != nil {
		return err
	}
	st := s.result.Status
	if st.Running && st.Circular {
		return errors.New("the run is on, and its buffer drops old frames while they are fetched: the run has to be stopped for that")
	}
	// A file is of a run that is over, and why this one will end nobody knows yet.
	if st.Running {
		st.Running, st.Reason = false, trace.ReasonUnknown
	}
	h.Status = &st
	file, err := output.Create(s.config.Output, h)
	if err != nil {
		return err
	}
	s.frames = frames{order: s.isa.Order, registers: s.layout.Size, most: s.config.MaxFrames, show: s.config.Frames, file: file,
		tallies: map[trace.Number]tally{}}
	_, err = s.fetch(true)
	_ = s.tallies(h.Tracepoints) // a server that does not answer leaves the counts as they were uploaded
	return errors.Join(err, file.Update(st, h.Tracepoints), file.Close())
}
