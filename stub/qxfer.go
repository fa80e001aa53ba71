package stub

import (
	"encoding/xml"
	"fmt"
	"strings"

	"tracewell/rsp/reply"
	"tracewell/rsp/request"
	"tracewell/target"
)

// document is an object of qXfer as it was when the client began to read it. Reading goes on in that one, so that the
// parts fit together even if the object changes meanwhile.
type document struct {
	annex string
	bytes []byte
}

// reads makes the handler of a qXfer read out of the function that makes the whole object of an annex.
func reads(f *request.Form[request.Part], read func(x *session, annex string) ([]byte, error)) call {
	object := strings.Split(f.Prefix, ":")[1]
	c := on(f, reply.Object, func(x *session, p request.Part) (reply.Part, error) {
		// A client reads one object of a kind at a time: the next annex takes the place of the last.
		doc, ok := x.documents[object]
		if !ok || p.Offset == 0 || doc.annex != p.Annex {
			b, err := read(x, p.Annex)
			if err != nil {
				return reply.Part{}, err
			}
			doc = document{p.Annex, b}
			x.documents[object] = doc
		}
		// An offset at the very end is no error: it is how GDB asks whether there is more.
		if p.Offset > uint64(len(doc.bytes)) {
			return reply.Part{}, fmt.Errorf("offset %d is behind the end of the %d bytes of %s", p.Offset, len(doc.bytes), object)
		}
		rest := doc.bytes[p.Offset:]
		n := x.fit(rest[:min(p.Length, uint64(len(rest)))], len("m"))
		return reply.Part{More: n < len(rest), Bytes: rest[:n]}, nil
	})
	c.always = "OFFSET behind the end"
	return c
}

// fit is the count of bytes from the start of b that a binary reply has room for behind a header of that length, escapes
// counted.
func (x *session) fit(b []byte, header int) int {
	room := x.packetSize - header
	for i, c := range b {
		// These take two bytes in a frame. PacketSize counts bytes as they are sent.
		if strings.IndexByte("#$}*", c) >= 0 {
			room--
		}
		if room--; room < 0 {
			return i
		}
	}
	return len(b)
}

// errNoAnnex says that an object has no part of that name.
func errNoAnnex(annex string) error { return fmt.Errorf("there is no annex %q", annex) }

// marshal prints an XML document. Attribute values are escaped, since names come from the program.
func marshal(doc any) ([]byte, error) {
	// No DOCTYPE: GDB has the DTDs built in and reads none.
	b, err := xml.MarshalIndent(doc, "", " ")
	if err != nil {
		return nil, err
	}
	return append(append([]byte(xml.Header), b...), '\n'), nil
}

// featuresDocument is qXfer:features:read. The description has no includes, so there is one annex. As with gdbserver there is
// none without a process: GDB keeps its user from choosing another architecture than described (set architecture).
func (x *session) featuresDocument(annex string) ([]byte, error) {
	// Between two programs of an extended session there may be one of another architecture.
	if !x.debuggee.Alive() {
		return nil, target.ErrNoProcess
	}
	if annex != "target.xml" {
		return nil, errNoAnnex(annex)
	}
	return x.target.Description().XML(), nil
}

// auxvDocument is qXfer:auxv:read.
func (x *session) auxvDocument(annex string) ([]byte, error) {
	id, err := x.thread()
	if err != nil {
		return nil, err
	}
	if annex != "" {
		return nil, errNoAnnex(annex)
	}
	// The vector as the kernel has it, in words of the process.
	return x.target.Auxv().ReadAuxv(id.PID)
}

// execFileDocument is qXfer:exec-file:read, whose annex is a process.
func (x *session) execFileDocument(annex string) ([]byte, error) {
	id, err := x.thread()
	if err != nil {
		return nil, err
	}
	if annex != "" {
		// A process, which the packets that name nothing else have in the same form.
		// Without one it is the process of the selected thread, as older clients mean it.
		if id.PID, err = request.KillProcess.Parse(annex); err != nil {
			return nil, err
		}
	}
	path, err := x.target.ExecFile().ReadExecFile(id.PID)
	return []byte(path), err
}

// siginfoDocument is qXfer:siginfo:read.
func (x *session) siginfoDocument(annex string) ([]byte, error) {
	id, err := x.thread()
	if err != nil {
		return nil, err
	}
	if annex != "" {
		return nil, errNoAnnex(annex)
	}
	return x.target.Siginfo().ReadSiginfo(id)
}

// writeSiginfo is qXfer:siginfo:write.
func (x *session) writeSiginfo(w request.ObjectWrite) (uint64, error) {
	id, err := x.thread()
	if err != nil {
		return 0, err
	}
	// GDB writes the whole structure; a part is merged into what there is.
	b, err := x.target.Siginfo().ReadSiginfo(id)
	if err != nil {
		return 0, err
	}
	if w.Offset > uint64(len(b)) || uint64(len(w.Bytes)) > uint64(len(b))-w.Offset {
		return 0, fmt.Errorf("%d bytes at offset %d do not lie in the %d bytes of siginfo", len(w.Bytes), w.Offset, len(b))
	}
	copy(b[w.Offset:], w.Bytes)
	return uint64(len(w.Bytes)), x.target.Siginfo().WriteSiginfo(id, b)
}
