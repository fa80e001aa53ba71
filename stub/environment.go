package stub

import (
	"fmt"
	"slices"
	"strings"

	"tracewell/rsp/request"
)

// The settings of the programs that clients start. They outlive the client, as with gdbserver.

// setVariable is QEnvironmentHexEncoded.
func (x *session) setVariable(variable string) error {
	name, _, ok := strings.Cut(variable, "=")
	if !ok || name == "" {
		return fmt.Errorf("environment variable %q, expected NAME=VALUE", variable)
	}
	x.removeVariable(name)
	// Of two settings of a name the C library finds the first, so the old one was removed.
	x.program.Env = append(x.program.Env, variable)
	return nil
}

// unsetVariable is QEnvironmentUnset.
func (x *session) unsetVariable(name string) error {
	x.removeVariable(name)
	return nil
}

// removeVariable leaves an environment that is not nil: the client has a say in it now.
func (s *Server) removeVariable(name string) {
	env := append([]string{}, s.program.Env...)
	s.program.Env = slices.DeleteFunc(env, func(v string) bool { return strings.HasPrefix(v, name+"=") })
}

// resetEnvironment is QEnvironmentReset.
func (x *session) resetEnvironment(request.None) error {
	// GDB sends this before the first QEnvironmentHexEncoded of each vRun, and then its changes in full.
	x.program.Env = x.config.Program.Env
	return nil
}

// setDirectory is QSetWorkingDir, which without a folder means the server's own.
func (x *session) setDirectory(dir string) error {
	x.program.Dir = dir
	return nil
}

// chooseShell is QStartupWithShell. It makes no difference: gdbserver quotes arguments for the shell that it may start, so
// that the program gets them as they are, and here they come to the program without one.
func (x *session) chooseShell(bool) error { return nil }

// disableRandomization is QDisableRandomization.
func (x *session) disableRandomization(off bool) error {
	x.program.RandomAddresses = !off
	return nil
}
