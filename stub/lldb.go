package stub

import (
	"encoding/hex"
	"fmt"
	"strconv"

	"tracewell/arch"
	"tracewell/inferior"
	"tracewell/internal/jsontext"
	"tracewell/rsp/reply"
	"tracewell/rsp/request"
	"tracewell/target"
)

// What only LLDB asks: it identifies machine and process by packets of its own, and asks for mappings, where GDB reads /proc.
//
// Two of its packets are not there on purpose. QThreadSuffixSupported spares a packet for each register, but LLDB takes signals of
// a server that has it for numbers of the kernel, which those of GDB's protocol are not. And QListThreadsInStopReply changes stop
// replies, to spare one packet for each stop.

// enableErrorStrings is QEnableErrorStrings: errors have numbers, and texts behind them, in place of texts alone.
func (x *session) enableErrorStrings(request.None) error {
	x.errorStrings = true
	return x.beginWalk()
}

// numberedError is an error for a client that wants numbers. LLDB shows the text in place of the number.
func numberedError(err error) []byte {
	return append([]byte("E01;"), hex.EncodeToString([]byte(err.Error()))...)
}

// withoutProcess reports whether the client is to have errors since there is no process, where GDB wants an empty list of threads
// and the end of some process: LLDB takes these for a process without threads, and waits for it.
func (x *session) withoutProcess() bool { return x.errorStrings && !x.debuggee.Alive() }

// hostInfo is qHostInfo. The machine is the one that the program is of, also where a recording is served on another.
func (x *session) hostInfo(request.None) ([]reply.Item, error) { return x.machineInfo(), nil }

// processInfo is qProcessInfo, about the process of the selected thread.
func (x *session) processInfo(request.None) ([]reply.Item, error) {
	id, err := x.thread()
	if err != nil {
		return nil, err
	}
	return append([]reply.Item{{Key: "pid", Value: strconv.FormatUint(uint64(id.PID), 16)}}, x.machineInfo()...), nil
}

// machineInfo is what both tell.
func (x *session) machineInfo() []reply.Item {
	isa, description := x.target.ISA(), x.target.Description()
	items := []reply.Item{
		{Key: "endian", Value: arch.OrderName(isa.Order)},
		{Key: "ptrsize", Value: strconv.Itoa(isa.AddrSize)},
	}
	system := "unknown"
	if description.OnLinux() {
		system = "linux"
		items = append(items, reply.Item{Key: "ostype", Value: system})
	}
	// Without a triple LLDB goes by the program's file.
	if name := isa.LLVM(); name != "" {
		items = append(items, reply.Item{Key: "triple", Value: hex.EncodeToString([]byte(name + "-unknown-" + system))})
	}
	return items
}

// memoryRegion is qMemoryRegionInfo. A gap has no permissions and no name.
func (x *session) memoryRegion(addr arch.Addr) ([]reply.Item, error) {
	id, err := x.thread()
	if err != nil {
		return nil, err
	}
	r, err := x.target.Mappings().Region(id.PID, addr)
	if err != nil {
		return nil, err
	}
	items := []reply.Item{
		{Key: "start", Value: strconv.FormatUint(uint64(r.Start), 16)},
		{Key: "size", Value: strconv.FormatUint(r.Size, 16)},
	}
	if r.Access != (target.Access{}) || r.Name != "" {
		items = append(items, reply.Item{Key: "permissions", Value: permissions(r.Access)})
	}
	if r.Name != "" {
		items = append(items, reply.Item{Key: "name", Value: hex.EncodeToString([]byte(r.Name))})
	}
	return items, nil
}

// permissions are the letters of what is allowed, in the order that LLDB expects; none for what nobody may touch, such as the guard
// page of a stack.
func permissions(a target.Access) (letters string) {
	for _, p := range [...]struct {
		is     bool
		letter string
	}{{a.Read, "r"}, {a.Write, "w"}, {a.Exec, "x"}} {
		if p.is {
			letters += p.letter
		}
	}
	return letters
}

// allocate is _M: memory for code and data of expressions, in the process of the selected thread. It stays until the client
// releases it or the process ends.
func (x *session) allocate(a request.Allocation) (arch.Addr, error) {
	id, err := x.thread()
	if err != nil {
		return 0, err
	}
	return x.target.Allocator().Allocate(id.PID, a.Length, target.Access{Read: a.Read, Write: a.Write, Exec: a.Exec})
}

// release is _m. Memory that _M has not allocated is none of the client's to release.
func (x *session) release(addr arch.Addr) error {
	id, err := x.thread()
	if err != nil {
		return err
	}
	return x.target.Allocator().Release(id.PID, addr)
}

// linkerInfo is qShlibInfoAddr. Without it LLDB looks where the list of libraries says that the entry of the program is (main-lm),
// and takes that for the dynamic linker's structure.
func (x *session) linkerInfo(request.None) (arch.Addr, error) {
	id, err := x.thread()
	if err != nil {
		return 0, err
	}
	space, err := target.ProgramSpace(x.target, id.PID)
	if err != nil {
		return 0, err
	}
	// The place is known before the linker has run, when there is nothing in it yet.
	at, err := space.RDebugPointer()
	if at == 0 && err == nil {
		err = inferior.ErrNoDebug
	}
	return at, err
}

// threadInfo is one thread of jThreadsInfo. Signal and Reason are of a thread that stopped by something.
type threadInfo struct {
	TID         int                 `json:"tid"`
	Name        string              `json:"name,omitempty"`
	Signal      target.Signal       `json:"signal,omitempty"`
	Reason      string              `json:"reason,omitempty"`
	Description string              `json:"description,omitempty"`
	Registers   map[arch.Reg]string `json:"registers,omitempty"`
}

// threadsInfo is jThreadsInfo: all threads of the process of the selected one at once, with their names and why they stopped.
func (x *session) threadsInfo(string) ([]byte, error) {
	selected, err := x.thread()
	if err != nil {
		return nil, err
	}
	last := x.debuggee.LastStop()
	all := []threadInfo{}
	for _, id := range x.known() {
		// One that has just ended is left out.
		th, err := x.target.Thread(id)
		if err != nil || id.PID != selected.PID {
			continue
		}
		info := threadInfo{TID: id.TID, Name: th.Name, Registers: make(map[arch.Reg]string)}
		for _, r := range x.expedited(id) {
			info.Registers[r.Number] = r.Hex
		}
		if id == last.Thread {
			info.stopped(last)
			if reason, text := x.walkReason(); reason != "" {
				info.Reason, info.Description = reason, text
			}
		}
		all = append(all, info)
	}
	return jsontext.Append(nil, all)
}

// stopped fills in why a thread stopped, in LLDB's words. Of a breakpoint or a step the signal says enough: LLDB knows what it has
// inserted, and where the thread is.
func (i *threadInfo) stopped(ev target.Event) {
	i.Signal = ev.Signal
	switch {
	case ev.Kind == target.Forked || ev.Kind == target.Vforked:
		i.Reason, i.Description = "fork", fmt.Sprintf("%d %d", ev.Child.PID, ev.Child.TID)
		if ev.Kind == target.Vforked {
			i.Reason = "vfork"
		}
	case ev.Kind == target.VforkDone:
		i.Reason = "vforkdone"
	case ev.Kind == target.Execed:
		i.Reason = "exec"
	case watchNames[ev.Reason] != "":
		i.Reason, i.Description = "watchpoint", strconv.FormatUint(uint64(ev.Addr), 10)
	}
	// Those have no signal of their own, and are told as SIGTRAP in stop replies, too.
	if ev.Kind != target.Stopped {
		i.Signal = target.SignalTrap
	}
}

// The streams of programs that are started from now on. They are the client's, and not for the next: LLDB names its own terminal.
func (x *session) setStdin(path string) error  { return x.setStream(0, path) }
func (x *session) setStdout(path string) error { return x.setStream(1, path) }
func (x *session) setStderr(path string) error { return x.setStream(2, path) }

func (x *session) setStream(i int, path string) error {
	x.streams[i] = path
	return nil
}
