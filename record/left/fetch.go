package left

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"tracewell/arch"
	"tracewell/record/output"
	"tracewell/rsp/client"
	"tracewell/rsp/reply"
	"tracewell/rsp/request"
	"tracewell/tdesc"
	"tracewell/tdesc/fetch"
	"tracewell/tfile"
	"tracewell/trace"
)

// Request is what Fetch is to do.
type Request struct {
	Output      string        // path of the trace file
	Program     string        // path of the program for the trace file; "" for what the stub says
	Description *tdesc.Target // in place of the stub's; nil for that
	MaxFrames   int64         // as many at most; 0 for all
	Stop        bool          // the run ends first, and the program is detached from
}

// Fetched describes the trace file that Fetch has made.
type Fetched struct {
	Status trace.Status // of the run; it may be on
	Frames int64
	Bytes  int64
	// Unnamed says why the file does not tell where the files of the process lie, so that its addresses may have no names.
	Unnamed error
}

// Fetch makes a trace file of what a stub has collected, by a connection on which nothing has been said yet. A run that is on
// goes on afterwards, unless Stop is set. The program does not stop for it at a stub that has non-stop mode.
func Fetch(c *client.Client, r Request) (fetched Fetched, err error) {
	f := &fetcher{c: c, Request: r}
	if err := fetch.Announce(c, request.SwBreak); err != nil {
		return fetched, fmt.Errorf("no stub of GDB's protocol answers: %w", err)
	}
	if err := c.EndAcks(); err != nil {
		return fetched, err
	}
	if err := f.begin(); err != nil {
		return fetched, err
	}
	header, err := f.definitions()
	if err != nil {
		return fetched, err
	}
	objects, unnamed := f.objects()
	header.Description = output.Describe(f.description, objects)
	if err := f.copyTo(header); err != nil {
		return fetched, err
	}
	if f.pid != 0 { // nobody else resumes it: the stub does as it detaches, where the run is on, and lets it go where that is over
		err = client.Command(c, request.Detach, request.MaybeProcess{PID: f.pid, Given: true})
	}
	return Fetched{Status: f.status, Frames: f.file.frames, Bytes: f.file.bytes, Unnamed: unnamed}, err
}

// fetcher is one Fetch.
type fetcher struct {
	c *client.Client
	Request
	description *tdesc.Target
	layout      *tdesc.Layout
	isa         *arch.ISA
	pid         int // 0 as long as it is not known
	status      trace.Status
	decimal     bool // counts are
	file        frames
}

// begin finds out what there is, and ends the run if that is wanted. The status comes first: before anything is changed at the
// stub it is clear whether it has a run at all.
func (f *fetcher) begin() error {
	if err := f.learn(); err != nil {
		return fmt.Errorf("the stub has no tracepoints: %w", err)
	}
	// tnotrun: also what gdbserver says after QTinit.
	if !f.status.Running && f.status.Reason == trace.ReasonNotRun {
		return errors.New("the stub has recorded nothing: no run has been started")
	}
	if f.c.Features().Has("QNonStop") { // so that nothing stops because of us
		if err := client.Command(f.c, request.NonStop, true); err != nil {
			return err
		}
	}
	if f.Stop {
		if err := client.Command(f.c, request.TraceStop, request.None{}); err != nil {
			return err
		}
	}
	return f.describe()
}

// describe finds out what the registers in frames are.
func (f *fetcher) describe() (err error) {
	if f.description = f.Description; f.description == nil {
		if f.description, err = fetch.Description(f.c); err != nil {
			return err
		}
	}
	if f.layout, err = f.description.Layout(); err != nil {
		return err
	}
	m := f.description.Machine()
	f.isa = f.layout.ISA(m, f.description.Architecture, m.Order)
	return nil
}

// learn reads the status of the run. gdbserver gives the counts of qTP in decimal where the manual and other stubs have
// hexadecimal; it is told apart by the empty notes at the end of its status.
func (f *fetcher) learn() error {
	status, plain, err := f.c.TraceStatus()
	if err != nil {
		return err
	}
	_, notes, _ := strings.Cut(plain, ";notes:")
	f.decimal = strings.HasSuffix(notes, ":")
	f.status = status
	return nil
}

// definitions asks the stub for what it traces.
func (f *fetcher) definitions() (h tfile.Header, err error) {
	h = tfile.Header{Order: f.isa.Order, RegisterSize: f.layout.Size, Status: &f.status}
	list, err := client.List(f.c, request.FirstVariable, request.MoreVariables, reply.Variables)
	if err != nil {
		return h, err
	}
	// gdbserver lists the newest first; a file has them in the order of their definition.
	var variables trace.Variables
	for _, v := range list {
		variables.Add(v)
	}
	h.Variables = variables.List()
	var all trace.Upload
	err = f.c.Pieces(all.Add)
	if err == nil && len(all.Undefined()) > 0 {
		err = fmt.Errorf("the stub gives parts of tracepoint %d, but not its definition", all.Undefined()[0].Number)
	}
	h.Tracepoints = all.Tracepoints()
	output.Arrange(h.Tracepoints)
	return h, err
}

// copyTo makes the file. Of a circular buffer that still fills nothing can be copied: what it holds moves.
func (f *fetcher) copyTo(h tfile.Header) error {
	if err := f.learn(); err != nil {
		return err
	}
	st := f.status
	if st.Running && st.Circular {
		return errors.New("the run is on, and its buffer drops old frames while they are fetched: the run has to be stopped for that")
	}
	// A file is of a run that is over, and why this one will end nobody knows yet.
	if st.Running {
		st.Running, st.Reason = false, trace.ReasonUnknown
	}
	h.Status = &st
	file, err := output.Create(f.Output, h)
	if err != nil {
		return err
	}
	f.file = frames{order: f.isa.Order, most: f.MaxFrames, file: file}
	err = f.read()
	f.count(h.Tracepoints)
	return errors.Join(err, file.Update(st, h.Tracepoints), file.Close())
}

// aside is what a reply with a piece of the buffer has besides it, in bytes.
const aside = 16

// read reads the stub's buffer to its end. The stub keeps all frames, so the position is simply the number of bytes read.
func (f *fetcher) read() error {
	for at := int64(0); !f.file.enough(); {
		b, err := f.c.TraceBuffer(at, (f.c.PacketSize()-aside)/2)
		if err != nil || len(b) == 0 {
			return err
		}
		at += int64(len(b))
		// Without this a stub that answers every offset would fill the disk.
		if size := f.status.Size; size >= 0 && at > size {
			return fmt.Errorf("the stub's buffer of %d bytes holds more than that", size)
		}
		if err := f.file.add(b); err != nil {
			return err
		}
	}
	return nil
}

// count reads the hits of tracepoints, and the bytes of their frames (qTP), by one round trip for all. Where the stub does not
// answer with two numbers they stay as they were uploaded: they are for people, and no reason to go without the frames.
func (f *fetcher) count(all []trace.Tracepoint) {
	batch := f.c.Batch()
	replies := make([]*client.Result[reply.Counts], len(all))
	for i := range all {
		replies[i] = client.Add(batch, client.Ask(request.TracepointCounts, all[i].Key(), reply.Hits))
	}
	_ = batch.Run() // each has its own error
	for i, r := range replies {
		if counts := r.Value; r.Err == nil {
			all[i].Hits, all[i].Usage = f.number(counts.Hits), f.number(counts.Usage)
		}
	}
}

// number is a count as the stub means it. The digits of gdbserver's counts are decimal, and were read as hexadecimal.
func (f *fetcher) number(count uint64) uint64 {
	if meant, err := strconv.ParseUint(strconv.FormatUint(count, 16), 10, 64); f.decimal && err == nil {
		return meant
	}
	return count
}
