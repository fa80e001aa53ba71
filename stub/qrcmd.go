package stub

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"tracewell/rsp/reply"
	"tracewell/target"
)

// errMonitor makes GDB say "Protocol error with Rcmd" after a monitor command that is wrong, as gdbserver does. What is
// wrong has been printed by then.
var errMonitor = errors.New("monitor command refused")

// monitorCommand is one of the user's monitor commands.
type monitorCommand struct {
	name      string
	arguments string // "" for a command that takes none
	about     string
	do        func(x *session, args string) (says string, err error)
}

// monitorCommands are all of them. What they say are gdbserver's words.
func monitorCommands() []monitorCommand {
	return []monitorCommand{
		{"set debug", "0|1", "tell what the program does, and what it is told to do",
			toggle("Debug output", func(d *DebugLog) *bool { return &d.Events })},
		{"set debug-hw-points", "0|1", "tell of hardware breakpoints and watchpoints",
			toggle("H/W point debugging output", func(d *DebugLog) *bool { return &d.HardwarePoints })},
		{"set remote-debug", "0|1", "tell of every packet",
			toggle("Protocol debug output", func(d *DebugLog) *bool { return &d.Packets })},
		{"set event-loop-debug", "0|1", "accepted as gdbserver does; there is nothing to tell",
			toggle("Event loop debug output", func(d *DebugLog) *bool { return &d.EventLoop })},
		{"set debug-format", "WORD[,WORD...]", "what each line begins with: timestamp or all, none",
			(*session).monitorFormat},
		{"set debug-file", "[FILE]", "where all this is told, on the server's side; without FILE where it usually is",
			(*session).monitorFile},
		{"set libthread-db-search-path", "[PATH]", "no thread-local variables where libthread_db.so.1 is on none of the paths",
			(*session).monitorThreadLibrary},
		{"tracepoints", "", "how the hits of each tracepoint are collected in the run that is on: pad or trap, and why",
			(*session).monitorTracepoints},
		{"help", "", "print this", func(x *session, _ string) (string, error) { return x.monitorHelp(), nil }},
		{"exit", "", "end the program, or let it go if it ran before, and end the server", (*session).monitorExit},
	}
}

// monitorCommands are those of the server and the target's own.
func (x *session) monitorCommands() []monitorCommand {
	// The server's own come first: a target cannot take their names.
	list := monitorCommands()
	if x.walk != nil {
		list = append(list, walkCommands()...)
	}
	own := x.target.MonitorCommands()
	if own == nil {
		return list
	}
	for _, c := range own.Commands() {
		list = append(list, monitorCommand{c.Name, c.Arguments, c.About, func(x *session, args string) (string, error) {
			return x.commandTarget(c, args)
		}})
	}
	return list
}

// commandTarget does one of the target's commands for the selected thread.
func (x *session) commandTarget(c target.MonitorCommand, args string) (string, error) {
	if x.debuggee.Running() {
		return target.ErrRunning.Error() + "\n", errMonitor
	}
	id, err := x.thread()
	if err != nil {
		return err.Error() + "\n", errMonitor
	}
	// What a command printed before it failed is printed, too.
	says, err := c.Do(id, args)
	if err != nil {
		return says + err.Error() + "\n", errMonitor
	}
	return says, nil
}

// monitorHelp is the output of monitor help. GDB's test-suite looks at its first line.
func (x *session) monitorHelp() string {
	var b strings.Builder
	b.WriteString("The following monitor commands are supported:\n")
	for _, c := range x.monitorCommands() {
		fmt.Fprintf(&b, "  %s\n    %s\n", strings.TrimRight(c.name+" "+c.arguments, " "), c.about)
	}
	return b.String()
}

// monitor is qRcmd: the user's monitor commands. What they say goes before their reply, so that an error can follow it.
func (x *session) monitor(typed string) error {
	// GDB sends what the user typed behind "monitor", blanks included.
	line := strings.TrimRight(typed, " ")
	if theirs, err := x.monitorOf(line); theirs {
		return err
	}
	if x.target.Passage() != nil {
		line = strings.TrimLeft(strings.TrimPrefix(line, ownWord), " ")
	}
	for _, c := range x.monitorCommands() {
		rest, ok := strings.CutPrefix(line, c.name)
		// "set debug-hw-points 1" begins with "set debug", so a name counts only in front of a blank or the end.
		if !ok || rest != "" && (c.arguments == "" || rest[0] != ' ') {
			continue
		}
		says, err := c.do(x, strings.TrimLeft(rest, " "))
		x.console(says)
		return err
	}
	x.console(x.unknownCommand())
	return errMonitor
}

func (x *session) unknownCommand() string { return "Unknown monitor command.\n\n" + x.monitorHelp() }

// console sends text for GDB to print while it waits for the reply to a monitor command.
func (x *session) console(text string) {
	if text != "" {
		x.send(reply.Console.Append(nil, text))
	}
}

// toggle is the command that sets a switch of the log to 0 or 1.
func toggle(what string, of func(*DebugLog) *bool) func(*session, string) (string, error) {
	return func(x *session, args string) (string, error) {
		switch args {
		case "0":
			*of(x.debug) = false
			return what + " disabled.\n", nil
		case "1":
			*of(x.debug) = true
			return what + " enabled.\n", nil
		}
		return x.unknownCommand(), errMonitor
	}
}

// monitorFormat is set debug-format.
func (x *session) monitorFormat(list string) (string, error) {
	says, err := x.debug.SetFormat(list)
	if err != nil {
		return says + err.Error() + "\n" + x.monitorHelp(), errMonitor
	}
	return says, nil
}

// monitorFile is set debug-file.
func (x *session) monitorFile(path string) (string, error) {
	if err := x.debug.SetFile(path); err != nil {
		return fmt.Sprintf("Cannot open debug-file: %v\n", err), errMonitor
	}
	return "", nil
}

// monitorThreadLibrary is set libthread-db-search-path. Nothing here is done with that library, but who hides it from gdbserver
// wants to see GDB without thread-local variables. An empty path is the system's, $sdir and $pdir are the system's and the
// program's folders.
func (x *session) monitorThreadLibrary(path string) (string, error) {
	const library = "/libthread_db.so.1"
	x.noLocals = path != "" && !slices.ContainsFunc(strings.Split(path, ":"), func(folder string) bool {
		if files := x.target.Files(); folder != "$sdir" && folder != "$pdir" && files != nil {
			_, err := files.Stat(0, folder+library)
			return err == nil
		}
		return true
	})
	return fmt.Sprintf("libthread-db-search-path set to `%s'\n", path), nil
}

// monitorTracepoints is tracepoints.
func (x *session) monitorTracepoints(string) (string, error) {
	if x.engine == nil {
		return "There are no tracepoints here that could be hit.\n", nil
	}
	list := x.engine.Explain()
	if len(list) == 0 {
		return "No tracepoints are defined.\n", nil
	}
	var b strings.Builder
	for _, e := range list {
		fmt.Fprintf(&b, "Tracepoint %d at %v: %v\n", e.Key.Number, x.signedAddress(e.Key.Addr), e)
	}
	if p := x.target.Passage(); p != nil {
		b.WriteString(p.Spent())
	}
	return b.String(), nil
}

// monitorExit ends the server and the programs that it started, and lets go those that ran before.
func (x *session) monitorExit(string) (string, error) {
	// The session ends after this packet has been answered, and Serve returns ErrExit.
	x.exit = true
	if x.target.Runner() == nil {
		return "", nil
	}
	// The ends of the programs are no reply to anything.
	x.owed = false
	var started []int
	var errs []error
	for _, pid := range x.debuggee.Processes() {
		if attached, _ := x.debuggee.Attached(pid); attached {
			errs = append(errs, x.debuggee.LetGo(pid))
		} else {
			started = append(started, pid)
		}
	}
	return "", errors.Join(append(errs, x.debuggee.KillAll(started))...)
}
