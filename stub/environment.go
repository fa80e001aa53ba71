package stub

import (
	"errors"
	"slices"
	"strings"

	"tracewell/rsp"
)

// The settings of the programs that clients start. They outlive the client, as with gdbserver.

// errNoVariable says that a setting of the environment has no name, or no value.
var errNoVariable = errors.New("expected NAME=VALUE")

// setVariable is QEnvironmentHexEncoded.
func (x *session) setVariable(args string) ([]byte, error) {
	b, err := rsp.ParseHexBytes(args)
	if err != nil {
		return nil, err
	}
	name, _, ok := strings.Cut(string(b), "=")
	if !ok || name == "" {
		return nil, errNoVariable
	}
	x.removeVariable(name)
	x.program.Env = append(x.program.Env, string(b))
	return replyOK, nil
}

// unsetVariable is QEnvironmentUnset.
func (x *session) unsetVariable(args string) ([]byte, error) {
	name, err := rsp.ParseHexBytes(args)
	if err != nil {
		return nil, err
	}
	x.removeVariable(string(name))
	return replyOK, nil
}

// removeVariable leaves an environment that is not nil: the client has a say in it now.
func (s *Server) removeVariable(name string) {
	env := append([]string{}, s.program.Env...)
	s.program.Env = slices.DeleteFunc(env, func(v string) bool { return strings.HasPrefix(v, name+"=") })
}

// resetEnvironment is QEnvironmentReset.
func (x *session) resetEnvironment(string) ([]byte, error) {
	x.program.Env = x.config.Program.Env
	return replyOK, nil
}

// setDirectory is QSetWorkingDir, which without a folder means the server's own.
func (x *session) setDirectory(args string) ([]byte, error) {
	dir, err := rsp.ParseHexBytes(args)
	if err != nil {
		return nil, err
	}
	x.program.Dir = string(dir)
	return replyOK, nil
}

// chooseShell is QStartupWithShell. It makes no difference: gdbserver quotes arguments for the shell that it may start, so
// that the program gets them as they are, and here they come to the program without one.
func (x *session) chooseShell(args string) ([]byte, error) {
	_, err := parseFlag(args)
	return replyOK, err
}

// disableRandomization is QDisableRandomization.
func (x *session) disableRandomization(args string) ([]byte, error) {
	off, err := parseFlag(args)
	if err != nil {
		return nil, err
	}
	x.program.RandomAddresses = !off
	return replyOK, nil
}
