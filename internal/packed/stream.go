package packed

import (
	"bufio"
	"io"
)

// Stream is content that is unpacked as it is read, once and from the beginning, for what is too large to be kept or is to be
// read while it is written.
type Stream struct {
	Method *Method // by which it is compressed, nil for none

	in       *input
	content  io.Reader
	unpacker io.Closer // nil for none
	size     int64     // of content that came out
}

// NewStream returns the content of what r gives, from which it reads as much as tells the method: up to four bytes.
//
// Reading the Stream ends with a *DamageError where a compressed one is damaged or cut off; errors of r come as they are.
func NewStream(r io.Reader) (*Stream, error) {
	in := &input{r: r}
	buffered := bufio.NewReader(in)
	head, err := buffered.Peek(magicLength)
	if err != nil && err != io.EOF {
		return nil, err
	}
	s := &Stream{Method: recognise(head), in: in, content: buffered}
	if s.Method == nil {
		return s, nil
	}
	unpacker, err := s.Method.unpack(buffered)
	if err != nil {
		return nil, s.explain(err)
	}
	s.content, s.unpacker = unpacker, unpacker
	return s, nil
}

// Read implements io.Reader.
func (s *Stream) Read(p []byte) (int, error) {
	n, err := s.content.Read(p)
	s.size += int64(n)
	return n, s.explain(err)
}

// explain tells apart what a Stream ends with.
func (s *Stream) explain(err error) error {
	switch {
	case err == nil || s.Method == nil || err == io.EOF && s.unpacker != nil:
		return err
	case s.in.err != nil:
		return s.in.err
	}
	return &DamageError{s.Method, s.size, ended(err)}
}

// Close gives up what unpacking takes. It does not close what the Stream reads.
func (s *Stream) Close() error {
	if s.unpacker == nil {
		return nil
	}
	return s.unpacker.Close()
}
