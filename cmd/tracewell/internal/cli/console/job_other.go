//go:build !linux

package console

import (
	"io"
	"os"
)

// Job is what a shell and a terminal have to do with this process. Where no process is traced there is no program that could take
// the terminal or stop, and job control is the system's alone.
type Job struct {
	Control *os.File // nil
}

// NewJob has nothing to do here.
func NewJob(Terminal, io.Writer, func(), func() func()) *Job { return &Job{} }

// Missing returns resume.
func Missing(resume func(), _ bool, _ func(error)) func() { return resume }

// Close has nothing to give back.
func (*Job) Close() {}

// Foreground reports true: nothing is kept from the terminal.
func (*Job) Foreground() bool { return true }

// Suspend does nothing.
func (*Job) Suspend(int, int) {}

// StopGroup does nothing.
func StopGroup(int) {}

// IgnoreTerminalStops does nothing.
func IgnoreTerminalStops() {}

// Terminal remembers nothing.
type Terminal struct{}

// TakeTerminal returns a terminal that nothing takes.
func TakeTerminal(*os.File) Terminal { return Terminal{} }

// GiveBack does nothing.
func (Terminal) GiveBack() {}
