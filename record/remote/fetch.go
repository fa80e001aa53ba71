package remote

import (
	"errors"
	"fmt"

	"tracewell/arch"
	"tracewell/record/output"
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
	if st := &s.result.Status; !st.Running && st.Reason == trace.ReasonNotRun {
		return result, errors.New("the server has recorded nothing: no run has been started")
	}
	// In all-stop mode a server stops the program for a client that connects. A run that is on should not notice this
	// one.
	if s.server.features.Has("QNonStop") {
		if err := s.server.tell("QNonStop:1"); err != nil {
			return result, err
		}
	}
	if stop {
		if err := s.server.tell("QTStop"); err != nil {
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

// mostPieces is how many pieces of definitions a server may have.
const mostPieces = 1 << 20

// upload reads the definitions from the server, as GDB does when it connects to a run (qTfV, qTfP): variables first,
// because the bytecode of tracepoints refers to them by number. Tracepoints come in pieces in the form of the QTDP
// packets that defined them.
func (s *Session) upload() (h tfile.Header, err error) {
	h = tfile.Header{Order: machine.Order, RegisterSize: s.layout.Size, Status: &s.result.Status}
	var variables trace.Variables
	err = s.pieces("qTfV", "qTsV", func(text string) error {
		v, err := trace.ParseVariable(text)
		variables.Add(v)
		return err
	})
	h.Variables = variables.List()
	if err != nil {
		return h, err
	}
	var all trace.Upload
	err = s.pieces("qTfP", "qTsP", func(text string) error {
		p, err := trace.ParsePiece(text)
		if err != nil {
			return err
		}
		return all.Add(p)
	})
	// Actions without a definition would leave frames of a tracepoint that the file does not know.
	if err == nil && len(all.Undefined()) > 0 {
		err = fmt.Errorf("the server gives parts of tracepoint %d, but not its definition", all.Undefined()[0].Number)
	}
	h.Tracepoints = all.Tracepoints()
	output.Arrange(h.Tracepoints)
	return h, err
}

// pieces reads a list by a packet for the first piece and one for each that follows. The reply "l" ends the list.
func (s *Session) pieces(first, next string, add func(text string) error) error {
	packet := first
	for range mostPieces {
		reply, err := s.server.ask(packet)
		if err != nil {
			return err
		}
		if reply == "l" {
			return nil
		}
		if err := add(reply); err != nil {
			return fmt.Errorf("%s: %w", packet, err)
		}
		packet = next
	}
	return fmt.Errorf("%s: there is no end to it", first)
}

// copyTo makes the file. A circular buffer cannot be copied while the run is on: each frame that is dropped moves the
// others, so that a position in the buffer means nothing from one packet to the next.
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
	s.frames = frames{registers: s.layout.Size, most: s.config.MaxFrames, show: s.config.Frames, file: file, tallies: map[trace.Number]tally{}}
	_, err = s.fetch(true)
	return errors.Join(err, file.Update(st, s.counts(h.Tracepoints)), file.Close())
}

// counts reads the hits of tracepoints (qTP). A server that does not answer leaves those of the definitions as they
// were uploaded.
func (s *Session) counts(all []trace.Tracepoint) []trace.Tracepoint {
	for i := range all {
		_ = s.tally(&all[i])
	}
	return all
}
