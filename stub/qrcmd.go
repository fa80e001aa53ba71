package stub

import (
	"errors"
	"strings"

	"tracewell/rsp"
)

// monitorHelp is the output of monitor help.
const monitorHelp = `The following monitor commands are supported:
  help    show this
  exit    end the program, or let it go if it ran before, and end the server
`

// monitor is qRcmd: the user's monitor commands.
func (x *session) monitor(args string) ([]byte, error) {
	command, err := rsp.ParseHexBytes(args)
	if err != nil {
		return nil, err
	}
	switch strings.TrimSpace(string(command)) {
	case "help":
		return rsp.AppendHexBytes(nil, monitorHelp), nil
	case "exit":
		return replyOK, x.monitorExit()
	}
	return rsp.AppendHexBytes(nil, "Unknown monitor command.\n\n"+monitorHelp), nil
}

// monitorExit ends the server and the programs that it started, and lets go those that ran before.
func (x *session) monitorExit() error {
	x.exit = true
	if x.target.Runner() == nil {
		return nil
	}
	x.owed = false
	var started []int
	var errs []error
	for _, pid := range x.processes() {
		if x.attached[pid] {
			errs = append(errs, x.letGo(pid))
		} else {
			started = append(started, pid)
		}
	}
	return errors.Join(append(errs, x.killAll(started))...)
}
