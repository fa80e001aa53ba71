package firmware

import (
	"encoding/json"
	"fmt"
	"net"
	"time"
)

// patience is how long QEMU may take for a command of its monitor.
const patience = 30 * time.Second

// monitor is a connection to QEMU's monitor, by its protocol QMP: a JSON object each for command and result, and events between
// them.
type monitor struct {
	conn   net.Conn
	decode *json.Decoder
}

// message is anything that the monitor sends.
type message struct {
	Greeting json.RawMessage `json:"QMP"`
	Event    string          `json:"event"`
	Return   json.RawMessage `json:"return"`
	Error    *struct {
		Desc string `json:"desc"`
	} `json:"error"`
}

// dialMonitor connects to a monitor and ends the negotiation with which a connection begins.
func dialMonitor(addr string) (*monitor, error) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	m := &monitor{conn: conn, decode: json.NewDecoder(conn)}
	if err := m.execute("qmp_capabilities", nil, nil); err != nil {
		conn.Close()
		return nil, err
	}
	return m, nil
}

func (m *monitor) close() { m.conn.Close() }

// execute executes a command and decodes its result, unless that is nil.
func (m *monitor) execute(command string, arguments map[string]any, result any) error {
	if err := m.conn.SetDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	request := map[string]any{"execute": command}
	if arguments != nil {
		request["arguments"] = arguments
	}
	if err := json.NewEncoder(m.conn).Encode(request); err != nil {
		return err
	}
	for {
		var reply message
		if err := m.decode.Decode(&reply); err != nil {
			return err
		}
		switch {
		case reply.Error != nil:
			return fmt.Errorf("%s", reply.Error.Desc)
		case reply.Return != nil && result != nil:
			return json.Unmarshal(reply.Return, result)
		case reply.Return != nil:
			return nil
		} // else the greeting or an event
	}
}
