package stub

import (
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

// monitorExit ends the program and the server.
func (x *session) monitorExit() error {
	x.exit = true
	pid, ok := x.process()
	runner := x.target.Runner()
	if !ok || runner == nil {
		return nil
	}
	if x.config.Attached {
		return x.finish(pid, runner.Detach)
	}
	return x.finish(pid, runner.Kill)
}
