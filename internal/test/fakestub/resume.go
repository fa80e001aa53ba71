package fakestub

import (
	"fmt"
	"strconv"
	"strings"

	"tracewell/rsp"
)

// resumption answers the packets whose reply is the next stop. ok is false for all others.
func (ss *session) resumption(packet string) (text string, now, ok bool) {
	switch {
	case packet[0] == 'F' && ss.waiting != nil:
		return ss.answered(packet)
	case packet == "vCont?" || ss.quirks.NoVCont && strings.HasPrefix(packet, "vCont"):
		return "", false, false
	case strings.HasPrefix(packet, "vCont;"):
		orders, ok := ss.actions(packet[len("vCont;"):])
		return ss.goOn(orders, ok)
	case packet[0] == 'c' || packet[0] == 's':
		orders, ok := ss.simple(packet[0], packet[1:])
		return ss.goOn(orders, ok)
	case packet[0] == 'C' || packet[0] == 'S':
		_, address, _ := strings.Cut(packet[1:], ";")
		orders, ok := ss.simple(packet[0]|0x20, address)
		return ss.goOn(orders, ok)
	}
	return "", false, false
}

// goOn starts a run, unless it is refused.
func (ss *session) goOn(orders []order, ok bool) (string, bool, bool) {
	switch {
	case ss.running || !ok || ss.waiting != nil:
		return "E01", true, true
	case ss.machine.exited:
		return ss.stopReply(event{why: ended}), true, true
	}
	if ss.resumptions++; ss.quirks.FilesEach > 0 && ss.resumptions%ss.quirks.FilesEach == 0 {
		ss.waiting = orders
		return fmt.Sprintf("Fwrite,1,%x,%x", fileTextAt, len(FileText)), true, true
	}
	return ss.begin(orders)
}

// answered goes on behind a request, or stops where the user has interrupted that.
func (ss *session) answered(packet string) (string, bool, bool) {
	ss.mu.Lock()
	ss.answers = append(ss.answers, packet)
	ss.mu.Unlock()
	orders := ss.waiting
	ss.waiting = nil
	if head, _, _ := strings.Cut(packet, ";"); strings.HasSuffix(head, ",C") {
		ss.last = event{hart: ss.current, signal: interrupted, why: atFault}
		return ss.stopReply(ss.last), true, true
	}
	return ss.begin(orders)
}

// begin has the harts run.
func (ss *session) begin(orders []order) (string, bool, bool) {
	ss.moving = false
	for id := range orders {
		o, h := &orders[id], &ss.machine.harts[id]
		at, known := ss.reported[id]
		if o.passes = !ss.quirks.StepStays; !o.steps {
			o.passes = ss.quirks.ContinuePasses && known && at == h.pc
		}
		ss.moving = ss.moving || o.goes && !o.steps
	}
	clear(ss.reported)
	ss.running = true
	ss.machine.resume(orders)
	return "", false, true
}

// simple is what c and s mean, for the harts that Hc has chosen.
func (ss *session) simple(verb byte, address string) ([]order, bool) {
	orders := make([]order, len(ss.machine.harts))
	chosen := ss.resumed
	if ss.quirks.OtherFails && chosen >= 0 && chosen != ss.current {
		return nil, false
	}
	one := chosen
	if one < 0 || ss.quirks.ActsAsOne {
		one = ss.current
	}
	if address != "" {
		at, err := strconv.ParseUint(address, 16, 64)
		if err != nil {
			return nil, false
		}
		ss.machine.harts[one].pc = at
	}
	if verb == 's' {
		orders[one] = order{goes: true, steps: true}
		return orders, true
	}
	for id := range orders {
		orders[id].goes = chosen < 0 || chosen == id || ss.quirks.ActsAsOne
	}
	return orders, true
}

// actions is what vCont means: for each hart, the first action that names it.
func (ss *session) actions(text string) ([]order, bool) {
	orders := make([]order, len(ss.machine.harts))
	given := make([]bool, len(orders))
	for i, action := range strings.Split(text, ";") {
		verb, thread, named := strings.Cut(action, ":")
		o, ok := ss.action(verb)
		if !ok {
			return nil, false
		}
		if ss.quirks.ActsAsOne {
			if i > 0 {
				continue // a stub of one thread reads no further
			}
			if o.steps {
				orders[ss.current] = o
				continue
			}
			named = false
		}
		from, to := 0, len(orders)
		if named {
			id, ok := ss.threadNamed(thread)
			if !ok {
				return nil, false
			}
			if id == anyHart {
				id = ss.current
			}
			if id != allHarts {
				from, to = id, id+1
			}
		}
		for id := from; id < to; id++ {
			if !given[id] {
				orders[id], given[id] = o, true
			}
		}
	}
	return orders, true
}

// action is what a verb of vCont means.
func (ss *session) action(verb string) (order, bool) {
	if verb == "" {
		return order{}, false
	}
	switch verb[0] {
	case 'c', 'C':
		return order{goes: true}, true
	case 's', 'S':
		return order{goes: true, steps: true}, true
	case 't':
		return order{}, true
	case 'r':
		start, end, ok := strings.Cut(verb[1:], ",")
		a, err1 := strconv.ParseUint(start, 16, 64)
		b, err2 := strconv.ParseUint(end, 16, 64)
		return order{goes: true, steps: true, start: a, end: b}, ok && err1 == nil && err2 == nil && ss.quirks.RangeSteps
	}
	return order{}, false
}

// stopReply is the reply for an event.
func (ss *session) stopReply(e event) string {
	if e.why == ended {
		return "W" + string(rsp.AppendHexPadded(nil, uint64(e.status), 2))
	}
	signal := string(rsp.AppendHexPadded(nil, uint64(e.signal), 2))
	text := "T" + signal
	if e.why == atWatch {
		text += map[int]string{2: "watch", 3: "rwatch", 4: "awatch"}[e.kind] + ":" + strconv.FormatUint(e.at, 16) + ";"
	}
	switch ss.quirks.Stop {
	case BareT:
		return text
	case BareS:
		return "S" + signal
	}
	switch {
	case e.why == atSoftware && ss.reasons:
		text += "swbreak:;"
	case e.why == atHardware && ss.reasons:
		text += "hwbreak:;"
	}
	if ss.quirks.Expedites {
		for _, r := range []int{sp, s0, pcRegister} {
			text += string(rsp.AppendHexPadded(nil, uint64(r), 2)) + ":" + hexRegister(ss.machine.register(e.hart, r)) + ";"
		}
	}
	return text + "thread:" + ss.threadID(e.hart) + ";"
}
