package dap

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"

	"tracewell/internal/jsontext"
)

const (
	// mostContent is the size in bytes of the largest message that is read. A client's largest are lists of breakpoints.
	mostContent = 16 << 20
	// mostHeader is the size in bytes of the longest line of a header, and mostFields how many lines it has at most.
	mostHeader = 1 << 10
	mostFields = 16
)

// conn carries messages: each a header, an empty line and a JSON object. Writing is for any goroutine.
type conn struct {
	r *bufio.Reader

	mu  sync.Mutex
	w   io.Writer
	seq int // of the last message that was written
	err error
}

func newConn(rw io.ReadWriter) *conn { return &conn{r: bufio.NewReaderSize(rw, mostHeader), w: rw} }

// request is what a client asks.
type request struct {
	Seq       int             `json:"seq"`
	Type      string          `json:"type"`
	Command   string          `json:"command"`
	Arguments json.RawMessage `json:"arguments"`
}

// errGarbled is in the error for content that is no message; what follows it can be read.
var errGarbled = errors.New("not a message of the Debug Adapter Protocol")

// read reads a message. After an error that is not errGarbled nothing more can be read: where the next message begins is not known.
func (c *conn) read() (request, error) {
	length, err := c.header()
	if err != nil {
		return request{}, err
	}
	content := make([]byte, length)
	if _, err := io.ReadFull(c.r, content); err != nil {
		return request{}, fmt.Errorf("a message ends before its %d bytes: %w", length, err)
	}
	var r request
	if err := json.Unmarshal(content, &r); err != nil {
		return request{}, fmt.Errorf("%w: %w", errGarbled, err)
	}
	return r, nil
}

// header reads up to the content of a message and returns the length of that in bytes. io.EOF is the end between two messages.
func (c *conn) header() (int, error) {
	length := -1
	for n := 0; ; n++ {
		line, err := c.r.ReadSlice('\n')
		switch {
		case err == io.EOF && n == 0 && len(line) == 0:
			return 0, io.EOF
		case err == bufio.ErrBufferFull || n == mostFields:
			return 0, errors.New("the header of a message is too long")
		case err == io.EOF:
			return 0, io.ErrUnexpectedEOF
		case err != nil:
			return 0, err
		}
		field := strings.TrimSpace(string(line))
		if field == "" {
			break
		}
		name, value, ok := strings.Cut(field, ":")
		if !ok {
			return 0, fmt.Errorf("%.40q is no field of a header: want Content-Length: N", field)
		}
		if !strings.EqualFold(name, "Content-Length") {
			continue
		}
		if length, err = strconv.Atoi(strings.TrimSpace(value)); err != nil || length < 0 || length > mostContent {
			return 0, fmt.Errorf("a message of %.40q bytes: the limit is %d", strings.TrimSpace(value), mostContent)
		}
	}
	if length < 0 {
		return 0, errors.New("a message has no Content-Length")
	}
	return length, nil
}

// response is the answer to a request, and event what happens without one. The structs of go-dap would do as well, but for one
// struct for each command, whose only difference is the type of its body.
type response struct {
	Seq        int    `json:"seq"`
	Type       string `json:"type"`
	RequestSeq int    `json:"request_seq"`
	Success    bool   `json:"success"`
	Command    string `json:"command"`
	Message    string `json:"message,omitempty"`
	Body       any    `json:"body,omitempty"`
}

type event struct {
	Seq   int    `json:"seq"`
	Type  string `json:"type"`
	Event string `json:"event"`
	Body  any    `json:"body,omitempty"`
}

// respond answers a request.
func (c *conn) respond(r request, body any, err error) {
	a := response{Type: "response", RequestSeq: r.Seq, Command: r.Command, Success: err == nil, Body: body}
	if err != nil {
		a.Message, a.Body = err.Error(), failure(err)
	}
	c.write(func(seq int) any {
		a.Seq = seq
		return a
	})
}

// failure is the body of an answer that is an error: what clients show to their users.
func failure(err error) any {
	type message struct {
		ID       int    `json:"id"`
		Format   string `json:"format"`
		ShowUser bool   `json:"showUser"`
	}
	// Braces in a format stand for variables.
	format := strings.NewReplacer("{", "(", "}", ")").Replace(err.Error())
	return map[string]message{"error": {ID: 1, Format: format, ShowUser: !errors.Is(err, errCancelled)}}
}

// tell sends an event.
func (c *conn) tell(name string, body any) {
	c.write(func(seq int) any { return event{Seq: seq, Type: "event", Event: name, Body: body} })
}

// write numbers a message and sends it. The first error is kept: there is nobody left to tell of it.
func (c *conn) write(message func(seq int) any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return
	}
	content, err := jsontext.Append(nil, message(c.seq+1))
	if err == nil {
		c.seq++
		_, err = fmt.Fprintf(c.w, "Content-Length: %d\r\n\r\n%s", len(content), content)
	}
	c.err = err
}
