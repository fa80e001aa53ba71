package dap_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	protocol "github.com/google/go-dap"

	"tracewell/dap"
)

// deadline is how long anything may take that a client waits for, on a machine that is busy with other tests.
const deadline = 60 * time.Second

// client is a client by the messages of go-dap.
type client struct {
	t        testing.TB
	conn     net.Conn
	codec    *protocol.Codec
	messages chan protocol.Message
	events   []protocol.EventMessage
	seq      int
	served   chan error
}

// framesResponse is the answer to tracewell/frames.
type framesResponse struct {
	protocol.Response
	Body struct {
		Total  int `json:"total"`
		Next   int `json:"next"`
		Frames []struct {
			Frame      int    `json:"frame"`
			Tracepoint int    `json:"tracepoint"`
			Place      string `json:"place"`
			Values     string `json:"values"`
		} `json:"frames"`
	} `json:"body"`
}

// connect has a session serve a client. At the end of the test the client is gone, and the session has to end.
func connect(t testing.TB, c dap.Config) *client {
	t.Helper()
	ours, theirs := net.Pipe()
	k := &client{t: t, conn: ours, codec: protocol.NewCodec(), messages: make(chan protocol.Message, 1000), served: make(chan error, 1)}
	err := k.codec.RegisterRequest("tracewell/frames", func() protocol.Message { return new(protocol.Request) },
		func() protocol.Message { return new(framesResponse) })
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		err := dap.Serve(c, theirs)
		theirs.Close()
		k.served <- err
	}()
	go k.read()
	t.Cleanup(func() {
		ours.Close()
		select {
		case <-k.served:
		case <-time.After(deadline):
			t.Error("the session goes on without a client")
		}
	})
	return k
}

// read reads messages, each of which go-dap has to know.
func (c *client) read() {
	defer close(c.messages)
	r := bufio.NewReader(c.conn)
	for {
		content, err := protocol.ReadBaseMessage(r)
		if err != nil {
			return
		}
		m, err := c.codec.DecodeMessage(content)
		if err != nil {
			m = &protocol.ErrorResponse{Response: protocol.Response{Message: fmt.Sprintf("%v: %s", err, content)}}
		}
		c.messages <- m
	}
}

// next returns the next message.
func (c *client) next() protocol.Message {
	c.t.Helper()
	select {
	case m, ok := <-c.messages:
		if !ok {
			c.t.Fatal("the session has ended")
		}
		return m
	case <-time.After(deadline):
		c.t.Fatal("no message comes")
	}
	return nil
}

// send sends a request and returns its number.
func (c *client) send(command string, arguments any) int {
	c.t.Helper()
	c.seq++
	content, err := json.Marshal(map[string]any{"seq": c.seq, "type": "request", "command": command, "arguments": arguments})
	if err == nil {
		err = protocol.WriteBaseMessage(c.conn, content)
	}
	if err != nil {
		c.t.Fatal(err)
	}
	return c.seq
}

// answer waits for the response to a request. Events that come before are kept.
func (c *client) answer(seq int) protocol.ResponseMessage {
	c.t.Helper()
	for {
		switch m := c.next().(type) {
		case protocol.EventMessage:
			c.events = append(c.events, m)
		case protocol.ResponseMessage:
			if m.GetResponse().RequestSeq == seq {
				return m
			}
			c.t.Fatalf("a response to request %d: %+v", m.GetResponse().RequestSeq, m)
		default:
			c.t.Fatalf("%+v", m)
		}
	}
}

// ask sends a request that is to succeed, and returns its response.
func ask[R protocol.ResponseMessage](c *client, command string, arguments any) (response R) {
	c.t.Helper()
	m := c.answer(c.send(command, arguments))
	response, ok := m.(R)
	if !ok || !m.GetResponse().Success {
		c.t.Fatalf("%s %+v: %+v", command, arguments, m)
	}
	return response
}

// refused sends a request that is to fail, and returns why.
func (c *client) refused(command string, arguments any) string {
	c.t.Helper()
	m := c.answer(c.send(command, arguments))
	if m.GetResponse().Success {
		c.t.Fatalf("%s %+v succeeded: %+v", command, arguments, m)
	}
	return m.GetResponse().Message
}

// event waits for an event.
func event[E protocol.EventMessage](c *client) E {
	c.t.Helper()
	for {
		for i, m := range c.events {
			if e, ok := m.(E); ok {
				c.events = slices.Delete(c.events, i, i+1)
				return e
			}
		}
		m, ok := c.next().(protocol.EventMessage)
		if !ok {
			c.t.Fatalf("a message that is no event: %+v", m)
		}
		c.events = append(c.events, m)
	}
}

// start initializes a session and launches or attaches.
func (c *client) start(command string, arguments map[string]any) {
	c.t.Helper()
	ask[*protocol.InitializeResponse](c, "initialize", map[string]any{"adapterID": "tracewell"})
	if m := c.answer(c.send(command, arguments)); !m.GetResponse().Success {
		c.t.Fatalf("%s %v: %s", command, arguments, m.GetResponse().Message)
	}
	event[*protocol.InitializedEvent](c)
}

// open starts a session of a recording, which stands at its beginning then.
func (c *client) open(arguments map[string]any) {
	c.t.Helper()
	c.start("launch", arguments)
	ask[*protocol.ConfigurationDoneResponse](c, "configurationDone", nil)
	if e := event[*protocol.StoppedEvent](c); e.Body.Reason != "entry" {
		c.t.Fatalf("%+v", e)
	}
}

// go moves, and returns where that has ended.
func (c *client) move(command string, arguments ...any) protocol.StoppedEventBody {
	c.t.Helper()
	a := any(map[string]any{"threadId": c.threads()[0].Id})
	if len(arguments) > 0 {
		a = arguments[0]
	}
	if m := c.answer(c.send(command, a)); !m.GetResponse().Success {
		c.t.Fatalf("%s: %+v", command, m)
	}
	return event[*protocol.StoppedEvent](c).Body
}

func (c *client) threads() []protocol.Thread {
	c.t.Helper()
	return ask[*protocol.ThreadsResponse](c, "threads", nil).Body.Threads
}

// stack is the calls of the first thread.
func (c *client) stack() []protocol.StackFrame {
	c.t.Helper()
	return ask[*protocol.StackTraceResponse](c, "stackTrace", map[string]any{"threadId": c.threads()[0].Id}).Body.StackFrames
}

// place is the innermost call as "push:13".
func (c *client) place() string {
	c.t.Helper()
	top := c.stack()[0]
	return fmt.Sprintf("%s:%d", top.Name, top.Line)
}

// scopes are the scopes of a call, by their names.
func (c *client) scopes(call int) map[string]protocol.Scope {
	c.t.Helper()
	named := make(map[string]protocol.Scope)
	for _, s := range ask[*protocol.ScopesResponse](c, "scopes", map[string]any{"frameId": call}).Body.Scopes {
		named[s.Name] = s
	}
	return named
}

// unfold lists the variables of a scope or another variable.
func (c *client) unfold(reference int, page ...int) []protocol.Variable {
	c.t.Helper()
	arguments := map[string]any{"variablesReference": reference}
	if len(page) == 2 {
		arguments["start"], arguments["count"] = page[0], page[1]
	}
	return ask[*protocol.VariablesResponse](c, "variables", arguments).Body.Variables
}

// variable finds a variable by its name.
func (c *client) variable(reference int, name string) protocol.Variable {
	c.t.Helper()
	list := c.unfold(reference)
	for _, v := range list {
		if v.Name == name {
			return v
		}
	}
	c.t.Fatalf("there is no %s in %+v", name, list)
	return protocol.Variable{}
}

// evaluate evaluates an expression in the innermost call.
func (c *client) evaluate(expression string) string {
	c.t.Helper()
	return ask[*protocol.EvaluateResponse](c, "evaluate", map[string]any{"expression": expression, "frameId": c.stack()[0].Id}).Body.Result
}

// console types a line into the console.
func (c *client) console(line string) string {
	c.t.Helper()
	return ask[*protocol.EvaluateResponse](c, "evaluate", map[string]any{"expression": line, "context": "repl"}).Body.Result
}

// breakAt sets the breakpoints of a source file.
func (c *client) breakAt(path string, list ...protocol.SourceBreakpoint) []protocol.Breakpoint {
	c.t.Helper()
	return ask[*protocol.SetBreakpointsResponse](c, "setBreakpoints", protocol.SetBreakpointsArguments{
		Source: protocol.Source{Path: path}, Breakpoints: list}).Body.Breakpoints
}

// leave disconnects, and waits for the end of the session.
func (c *client) leave(arguments any) {
	c.t.Helper()
	ask[*protocol.DisconnectResponse](c, "disconnect", arguments)
	select {
	case err := <-c.served:
		c.served <- nil
		if err != nil {
			c.t.Error(err)
		}
	case <-time.After(deadline):
		c.t.Fatal("the session goes on")
	}
}

// TestOrder asks things out of order, and what there is not.
func TestOrder(t *testing.T) {
	c := connect(t, dap.Config{})
	for _, command := range []string{"threads", "launch", "configurationDone", "next"} {
		if why := c.refused(command, nil); !strings.Contains(why, "initialize") {
			t.Errorf("%s: %s", command, why)
		}
	}
	capabilities := ask[*protocol.InitializeResponse](c, "initialize", map[string]any{"adapterID": "x"}).Body
	if !capabilities.SupportsStepBack || !capabilities.SupportsLogPoints || capabilities.SupportsWriteMemoryRequest {
		t.Errorf("%+v", capabilities)
	}
	for command, want := range map[string]string{
		"initialize": "already", "threads": "nothing was launched", "attach": "attach wants pid", "launch": "cannot be traced here",
		"evaluate": "nothing was launched", "setVariable": "no request", "no\x1bsuch": `no request`,
	} {
		if why := c.refused(command, nil); !strings.Contains(why, want) || strings.Contains(why, "\x1b") {
			t.Errorf("%s: %q, want %s", command, why, want)
		}
	}
	for _, wrong := range []any{
		map[string]any{"trace": 7}, map[string]any{"trace": "/no/such/file"}, map[string]any{"trace": "/dev/null"},
		map[string]any{"trace": "/etc/passwd"}, map[string]any{"trace": "/etc"}, "text", 7,
	} {
		if why := c.refused("launch", wrong); why == "" {
			t.Errorf("%v: no reason", wrong)
		}
	}
	ask[*protocol.CancelResponse](c, "cancel", map[string]any{"requestId": 99})
	c.leave(nil)
}

// TestGarbled sends what is no message. A session that cannot know where the next message begins ends; it does not wait, nor take as
// much memory as a length says.
func TestGarbled(t *testing.T) {
	for name, sent := range map[string]string{
		"huge":      "Content-Length: 99999999999\r\n\r\n",
		"large":     "Content-Length: 999999999\r\n\r\n",
		"negative":  "Content-Length: -1\r\n\r\n",
		"no number": "Content-Length: many\r\n\r\n",
		"no length": "Content-Type: x\r\n\r\n{}",
		"no field":  "hello\r\n\r\n",
		"long line": strings.Repeat("x", 5000) + "\r\n",
		"many":      strings.Repeat("A: b\r\n", 100),
		"cut":       "Content-Length: 100\r\n\r\n{",
		"in header": "Content-Le",
	} {
		t.Run(name, func(t *testing.T) {
			c := connect(t, dap.Config{})
			c.conn.SetDeadline(time.Now().Add(deadline))
			c.conn.Write([]byte(sent))
			if name == "cut" || name == "in header" {
				c.conn.Close()
			}
			select {
			case err := <-c.served:
				c.served <- nil
				if err == nil {
					t.Error("no error")
				}
			case <-time.After(deadline):
				t.Error("the session goes on")
			}
		})
	}
}

// TestNoJSON sends content that is none: it is told, and the next message is served.
func TestNoJSON(t *testing.T) {
	c := connect(t, dap.Config{})
	for _, content := range []string{"{", "[]", `{"seq":"x"}`, ""} {
		if err := protocol.WriteBaseMessage(c.conn, []byte(content)); err != nil {
			t.Fatal(err)
		}
		if e := event[*protocol.OutputEvent](c); !strings.Contains(e.Body.Output, "not a message") {
			t.Errorf("%q: %+v", content, e.Body)
		}
	}
	ask[*protocol.InitializeResponse](c, "initialize", nil)
}

// TestDone ends a session from outside.
func TestDone(t *testing.T) {
	done := make(chan struct{})
	c := connect(t, dap.Config{Done: done})
	ask[*protocol.InitializeResponse](c, "initialize", nil)
	close(done)
	select {
	case err := <-c.served:
		c.served <- nil
		if err != nil {
			t.Error(err)
		}
	case <-time.After(deadline):
		t.Error("the session goes on")
	}
}
