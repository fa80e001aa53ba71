// Package record is "tracewell record": the options that make a plan, and what is told of a run while it is on and when it has
// ended.
//
// # The flow of a run
//
// Options and scripts become a plan, which is text (package plan). A session, of this machine (package record) or of a server
// (record/remote), launches the program or attaches to it, finds the locations and compiles the expressions; whatever is wrong
// with them is reported before any code of the program's own has run. Then the run is on until the program ends, the time is
// up, enough frames have come, a pass count or the end of the buffer is reached, or a signal ends the command. Frames go to the
// file and then, with --print, to standard output; events and a table of counts go to standard error. At the end the command
// prints the counts, and the path of the file.
//
// Four options take another way: --list opens only the file of the program, --dry-run stops when the session is prepared,
// --disconnected leaves when the run has been started at a server, and --fetch gets what such a run has recorded.
//
// # Signals and the terminal
//
// A program that is launched has a process group of its own and gets the terminal, so Ctrl-C and Ctrl-Z are for the program; record
// ends or stops when it does. The first signal that reaches record ends the run, and what was recorded until then is in the file. A
// second one ends record at once, unless the process was attached to: its code is put back first, however often somebody asks.
// Ctrl-Z with --pid puts record into the background, and the process runs on (console.Job).
//
// # Exit status
//
// That of the program that was launched, or 128 and the number of the signal that killed it. If the run ends first the program
// goes on untraced, and record waits for it. 2 if something could not be recorded. With --pid the status says only whether
// recording worked.
package record

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/alecthomas/kong"

	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/cmd/tracewell/internal/cli/flags"
	"tracewell/cmd/tracewell/internal/cli/printing"
	"tracewell/record/plan"
	"tracewell/trace"
)

// Command is "tracewell record".
type Command struct {
	tracedOptions
	subjectOptions
	runOptions
	tellOptions

	Command []string `arg:"" optional:"" passthrough:"partial" name:"prog args" help:"The program to launch, and its arguments. With --remote and --list, the ELF file that contains the names."`
}

// Examples implements flags.Exampler.
func (*Command) Examples() string {
	return `  tracewell record --at push --collect '$args' -- ./server --port 80     # every call of push with its arguments
  tracewell record --at push --collect '$args' --print -- ./server       # and a line for each at once
  tracewell record --at 'queue.c:88' --collect '*q, buf[0]@16' --if 'n > 3 && q->head != 0' -o run.tf -- ./server
  tracewell record --at push --at pop --collect '$regs' --pid 1234 --duration 10s
  tracewell record --at push --tvariable '$calls' --if '($calls = $calls + 1) % 100 == 0' --backtrace -- ./server    # each 100th
  tracewell record --at push --collect n --format '{time} {function}:{line} n={n}' -- ./server
  tracewell record --script points.gdb -- ./server                       # what GDB's "save tracepoints" wrote
  tracewell record --list 'queue*' ./server                              # what can be traced
  tracewell record --at push --collect '*q' --dry-run -- ./server        # with addresses, and what a frame takes
  tracewell show server.tf --exec ./server                               # the frames; GDB's "target tfile" reads them, too
`
}

// tracedOptions say what is traced. Their order on the command line matters.
type tracedOptions struct {
	At        planOption  `group:"What is traced:" placeholder:"LOCATION" complete:"locations" help:"Set a tracepoint at FILE:LINE, FUNCTION, FUNCTION+OFFSET, *ADDRESS or -probe PROVIDER:NAME, as GDB's trace does. The options below apply to the --at in front of them, or to several in a row; in front of the first --at they apply to all."`
	Collect   planOption  `group:"What is traced:" placeholder:"EXPRS" help:"Collect these expressions, with commas between them: variables, members, ARRAY[0]@N, $args, $locals, $regs, $REGISTER; /s in front collects strings, /s64 of at most 64 bytes."`
	If        planOption  `group:"What is traced:" placeholder:"EXPR" help:"Record a hit only if EXPR is not 0. It is evaluated at each hit, and may set trace state variables."`
	Pass      planOption  `group:"What is traced:" placeholder:"N" help:"End the run at the N-th hit."`
	Step      planOption  `group:"What is traced:" placeholder:"N[:EXPRS]" help:"Step N instructions after each hit, and collect EXPRS after each step (default: $$rip)."`
	Set       planOption  `group:"What is traced:" placeholder:"EXPRS" help:"Set trace state variables at each hit with a true condition, as in $$count = $$count + 1. They start at 0."`
	Backtrace spareOption `group:"What is traced:" placeholder:"BYTES" help:"Collect enough for a backtrace: registers, and ${backtraceBytes} bytes of the stack, or as many as --backtrace=BYTES says."`
	Tvariable planOption  `group:"What is traced:" placeholder:"$$NAME=N" help:"Start a trace state variable at another number."`
	Script    []string    `group:"What is traced:" sep:"none" placeholder:"FILE" help:"Read tracepoints from a GDB script; may be given several times."`
}

// subjectOptions say which process is traced.
type subjectOptions struct {
	PID    pidOption `name:"pid" short:"p" group:"Which program:" placeholder:"PID" complete:"processes" help:"Trace a running process, with all its threads (${here} only). It continues when the run ends."`
	Follow bool      `group:"Which program:" help:"Also trace child processes."`

	Remote       string `group:"Which program:" placeholder:"HOST:PORT" help:"Delegate tracing to gdbserver, or any stub that supports tracepoints, at HOST:PORT, :PORT or unix:PATH."`
	Disconnected bool   `group:"Which program:" help:"With --remote: start the run and disconnect. The server continues tracing."`
	Fetch        bool   `group:"Which program:" help:"With --remote: fetch the frames of a run that was started with --disconnected. The run continues if it has not ended."`
	Stop         bool   `group:"Which program:" help:"With --fetch: end the run first, and detach from the program."`
}

// runOptions say how long a run takes and where its frames go.
type runOptions struct {
	Duration span           `group:"The run:" placeholder:"TIME" help:"End the run after this time: 10s, 2m, 500ms."`
	Frames   flags.Positive `group:"The run:" placeholder:"N" help:"End the run at the N-th frame."`
	Output   string         `short:"o" group:"The run:" placeholder:"FILE" help:"The trace file (default: PROG.tf, or the first of PROG.2.tf and so on that does not exist)."`
	Buffer   byteCount      `group:"The run:" placeholder:"SIZE" help:"Keep frames in memory until the run ends, at the latest when the buffer is full: 64M, 1G. Without this, frames are written as they are collected."`
	Circular bool           `group:"The run:" help:"When the buffer is full, overwrite the oldest frames instead of ending the run (${circularBytes} without --buffer)."`
	flags.Collecting
	Bare bool   `group:"The run:" help:"Collect only what is asked for, not also when a frame was made and by which thread ($$trace_timestamp, $$tid; with --follow $$pid)."`
	Note string `group:"The run:" placeholder:"TEXT" help:"Save a note in the file."`
	User string `group:"The run:" placeholder:"NAME" help:"Save the name of the user in the file."`
}

// tellOptions say what is printed.
type tellOptions struct {
	Print   bool                `group:"What is printed:" help:"Print a line for each frame while the program runs. Collects $$trace_timestamp even with --bare."`
	Format  printing.LineFormat `group:"What is printed:" placeholder:"TEMPLATE" help:"The format of the lines, as in '{time} {location} n={n} {values}'. Implies --print. In braces: ${formatFields}, or an expression; {/x n} for hexadecimal."`
	JSON    bool                `name:"json" group:"What is printed:" help:"Print JSON: with --print a line for each frame, and at the end the result of the run."`
	List    *string             `group:"What is printed:" placeholder:"PATTERN" complete:"locations" help:"Only list the functions and probes whose names match, where * matches any characters; FILE: lists the lines of a file, FILE:PATTERN its functions; /REGEXP/ is a regular expression."`
	Explain bool                `group:"What is printed:" help:"Print how the hits of each location are collected, as the run begins: by a pad, of which kind, or by a trap, and why."`
	DryRun  bool                `group:"What is printed:" help:"Only print the tracepoints, with addresses and the bytecode of expressions."`
	Quiet   bool                `short:"q" group:"What is printed:" help:"Print only errors."`
}

// Run implements kong's command. Whether this machine can trace at all is checked in front of everything but the options
// themselves; --list needs only an ELF file and --remote only a connection, so they work everywhere.
func (c *Command) Run(ctx *kong.Context, streams console.Streams) error {
	if err := c.check(); err != nil {
		return fmt.Errorf("%w (see tracewell record --help)", err)
	}
	if c.List == nil && c.Remote == "" {
		if err := console.CheckTracing("record"); err != nil {
			return err
		}
	}
	switch {
	case c.List != nil:
		return c.list(streams)
	case c.Fetch:
		return c.fetch(streams)
	}
	// The plan is text that has been checked for its form. Whether its names mean anything is found out where the program is.
	p, err := c.plan(ctx)
	if err != nil {
		return fmt.Errorf("record: %w", err)
	}
	switch {
	case c.DryRun:
		return c.rehearse(p, streams)
	case c.Disconnected:
		return c.leave(p, streams)
	}
	return c.record(p, streams)
}

// command is the program with its arguments. kong leaves "--" in front of them.
func (c *Command) command() []string {
	if len(c.Command) > 0 && c.Command[0] == "--" {
		return c.Command[1:]
	}
	return c.Command
}

// check refuses combinations of options. What does not depend on a run is refused before a program is launched; the first rule
// that is broken is reported, the most general ones being first.
func (c *Command) check() error {
	program := len(c.command()) > 0
	for _, rule := range []struct {
		broken bool
		says   string
	}{
		// The texts name what to do instead, or why two options exclude one another. Combinations with --list are refused, too, though
		// it would be harmless to ignore the rest: whoever adds --at to --list expects a run.
		{!program && c.PID == 0 && c.Remote == "", "record needs a program to launch, or --pid, or --remote"},
		{program && c.PID != 0, "--pid is for a process that runs: a program can't be launched as well"},
		{c.PID != 0 && c.Remote != "", "--pid and --remote are two different processes"},
		{c.Remote != "" && len(c.command()) > 1,
			"with --remote the program runs already: it takes no arguments, only the name of its file"},
		{c.Remote != "" && c.Follow, "--follow can't be used together with --remote"},
		{c.Remote == "" && (c.Disconnected || c.Fetch), "--disconnected and --fetch are for a server: they need --remote"},
		{c.Disconnected && c.Fetch, "--disconnected begins a run and --fetch gets what came of one: they can't be used together"},
		{c.Stop && !c.Fetch, "--stop goes with --fetch"},
		{c.Fetch && c.asks(),
			"--fetch gets what the server has recorded: it can't be used together with options that say what is traced"},
		{c.Disconnected && (c.Duration != 0 || c.Frames != 0 || c.Output != ""),
			"--disconnected writes no file and waits for nothing: --fetch does"},
		{(c.Disconnected || c.Fetch) && (c.Print || c.Format.Given()), "--print goes with a run that is waited for"},
		{c.Remote != "" && (c.Explain || !c.Pads || c.WhenFull != 0),
			"--explain, --no-pads and --when-full can't be used together with --remote: the server decides"},
		{c.Remote != "" && c.DryRun, "--dry-run can't be used together with --remote"},
		{c.List != nil && c.DryRun, "--list and --dry-run can't be used together"},
		{c.List != nil && c.asks(), "--list only lists: it can't be used together with options that say what is traced"},
		{c.Format.Given() && c.JSON, "--format and --json can't be used together"},
		{c.Bare && c.Fetch, "--bare says what is collected, and --fetch gets what has been"},
		{c.DryRun && c.Explain, "--dry-run sets no tracepoint that could be explained"},
		{c.DryRun && (c.Print || c.Format.Given()), "--dry-run records nothing that could be printed"},
	} {
		if rule.broken {
			return errors.New(rule.says)
		}
	}
	return nil
}

// asks reports whether any option or script says what to trace.
func (c *Command) asks() bool {
	// Every option of the group counts: those that only add to a tracepoint would be ignored in silence otherwise.
	o := &c.tracedOptions
	for _, given := range [][]string{o.At, o.Collect, o.If, o.Pass, o.Step, o.Set, o.Backtrace, o.Tvariable, o.Script} {
		if len(given) > 0 {
			return true
		}
	}
	return false
}

// plan makes a plan of the scripts and then the options, so that --at adds to the tracepoints of a script. Options are read in
// the order of the command line, as those behind --at belong to it.
func (c *Command) plan(ctx *kong.Context) (*plan.Plan, error) {
	// Errors of both name their place: the file and line of a script, the option and its value.
	p := &plan.Plan{}
	for _, path := range c.Script {
		text, err := readScript(path)
		if err != nil {
			return nil, err
		}
		if err := p.AddScript(path, string(text)); err != nil {
			return nil, err
		}
	}
	if err := p.AddItems(planItems(ctx)); err != nil {
		return nil, err
	}
	if len(p.Tracepoints) == 0 {
		return nil, errors.New("there is nothing to trace: give a place by --at, or a --script; --list '*' lists places")
	}
	c.override(&p.Settings)
	c.stamp(p)
	return p, nil
}

// stamp has every frame tell when it was made and by whom, unless that is unwanted. A server need not have more than the time;
// lines begin with it, so --print takes it in any case.
func (c *Command) stamp(p *plan.Plan) {
	var names []string
	if !c.Bare || c.Print || c.Format.Given() {
		names = append(names, trace.TimestampName)
	}
	if !c.Bare && c.Remote == "" {
		names = append(names, trace.ThreadIDName)
		if c.Follow {
			names = append(names, trace.ProcessIDName)
		}
	}
	for _, name := range names {
		p.Always = append(p.Always, plan.Text{Value: "$" + name, Origin: "record", Line: "$" + name})
	}
}

// override replaces settings of scripts ("set trace-buffer-size" and the like) by options.
func (c *Command) override(s *plan.Settings) {
	if c.Buffer != 0 {
		s.BufferSize = int64(c.Buffer)
	}
	// GDB's "set trace-buffer-size unlimited" leaves the size to the stub; here it means that frames go to the file as they come,
	// which is 0. A circular buffer needs a size, so it gets the usual one.
	if s.BufferSize == plan.Unlimited {
		s.BufferSize = 0
	}
	if s.Circular = s.Circular || c.Circular; s.Circular && s.BufferSize == 0 {
		s.BufferSize = circularBytes
	}
	if c.Note != "" {
		s.Notes = c.Note
	}
	if c.User != "" {
		s.User = c.User
	}
}

// circularBytes is the size of a circular buffer without --buffer, in bytes.
const circularBytes = 64 << 20

// output is the path of the trace file: that of --output, unless the program or a script would be overwritten, or a free name
// made of that of the program, in the current directory.
func (c *Command) output(streams console.Streams) (string, error) {
	if c.Output != "" {
		return c.Output, console.KeepApart(c.Output, append(c.Script, c.executable()), streams)
	}
	name := "trace"
	if exe := c.executable(); exe != "" {
		name = filepath.Base(exe)
	}
	return console.FreeName(name, console.IsFree), nil
}

// executable is the path of the program, "" if there is none, or if the process of --pid belongs to another user.
func (c *Command) executable() string {
	// The link in /proc can be read by whoever may trace the process, and ends in " (deleted)" if the file is gone: good enough for
	// a name.
	if command := c.command(); len(command) > 0 {
		return command[0]
	}
	if c.PID != 0 {
		if path, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", c.PID)); err == nil {
			return path
		}
	}
	return ""
}
