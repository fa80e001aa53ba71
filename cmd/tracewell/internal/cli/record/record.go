// Package record is "tracewell record": the options that make a plan, and what is told of a run while it is on and when it has
// ended.
//
// # The flow of a run
//
// Options and scripts become a plan, which is text (package plan). A session launches the program or attaches to it, finds the
// locations and compiles the expressions; whatever is wrong with them is reported before any code of the program's own has run.
// A location that nothing has is wrong, too, unless the plan waits for libraries, or for programs that children execute: where a
// name is misspelt, the program would run to its end for nothing.
// Package record traces processes of this machine (record/local), and whatever is behind a stub (target/remote), which does the
// tracing if it has tracepoints of its own. Then the run is on until the program ends, the time is up, enough frames have come,
// a pass count or the end of the buffer is reached, or a signal ends the command. Frames go to the file or, with --print, to
// standard output, or to both with -o; events and a table of counts go to standard error. At the end the command prints the counts,
// and the path of the file.
//
// Four options take another way: --list opens only the file of the program, --dry-run stops when the session is prepared,
// --disconnected leaves when the run has been started at a stub, and --fetch gets what such a run has recorded (record/left).
//
// --return makes two tracepoints of one: their frames are paired when they are printed, here or by show (view.Calls). The run knows
// nothing of that.
//
// # Signals and the terminal
//
// A program that is launched has a process group of its own and gets the terminal, so Ctrl-C and Ctrl-Z are for the program;
// record ends or stops when it does. The first signal that reaches record ends the run, and what was recorded until then is in the
// file. A second one ends record at once, unless the process was attached to: its code is put back first, however often somebody
// asks. Ctrl-Z with --pid puts record into the background, and the process runs on (console.Job).
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
	"runtime/debug"

	"github.com/alecthomas/kong"

	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/cmd/tracewell/internal/cli/figures"
	"tracewell/cmd/tracewell/internal/cli/flags"
	"tracewell/cmd/tracewell/internal/cli/input"
	"tracewell/cmd/tracewell/internal/cli/page"
	"tracewell/cmd/tracewell/internal/cli/printing"
	"tracewell/record/plan"
	"tracewell/symbol/container"
	"tracewell/trace"
)

// Command is "tracewell record".
type Command struct {
	tracedOptions
	subjectOptions
	runOptions
	figures.Options
	tellOptions

	figures *figures.Figures // nil if none are wanted

	Command []string `arg:"" optional:"" passthrough:"partial" name:"prog args" help:"The program to launch, and its arguments. With --to and --list, the ELF file that contains the names."`
}

// Examples implements flags.Exampler.
func (*Command) Examples() string {
	return `  tracewell record --at push --collect '$args' -- ./server --port 80     # every call of push with its arguments
  tracewell record --at push --collect '$args' --print -- ./server       # and a line for each at once
  tracewell record --at 'queue.c:88' --collect '*q, buf[0]@16' --if 'n > 3 && q->head != 0' -o run.tf -- ./server
  tracewell record --at push --at pop --collect '$regs' --pid 1234 --duration 10s
  tracewell record --at push --collect n --print --comm server --follow  # all processes of that name, new ones too
  tracewell record --at push --tvariable '$calls' --if '($calls = $calls + 1) % 100 == 0' --backtrace -- ./server    # each 100th
  tracewell record --at push --collect n --format '{time} {function}:{line} n={n}' -- ./server
  tracewell record --at push --stacks -- ./server                        # how often each stack of calls led to it
  tracewell record --at push --count-by 'n % 3' --sum n -- ./server      # how often, and a sum, by key; no file
  tracewell record --at push --collect '$args' --view -- ./server        # in a browser, while it runs
  tracewell record --script points.gdb -- ./server                       # what GDB's "save tracepoints" wrote
  tracewell record --list 'queue*' ./server                              # what can be traced
  tracewell record --at push --collect '*q' --dry-run -- ./server        # with addresses, and what a frame takes
  tracewell show server.tf --exec ./server                               # the frames; GDB's "target tfile" reads them, too
`
}

// tracedOptions say what is traced. Their order on the command line matters.
type tracedOptions struct {
	At        planOption  `group:"What is traced:" placeholder:"LOCATION" complete:"locations" help:"Set a tracepoint at FILE:LINE, FUNCTION, FUNCTION+OFFSET, *ADDRESS or -probe PROVIDER:NAME, as GDB's trace does; at every function that matches, with * and ? or as /REGEXP/, also FILE:PATTERN; or at LIBRARY:FUNCTION, LIBRARY:PATTERN or PROGRAM:0xADDRESS. The options below apply to the --at in front of them, or to several in a row; in front of the first --at they apply to all."`
	Collect   planOption  `group:"What is traced:" placeholder:"EXPRS" help:"Collect these expressions, with commas between them: variables, members, ARRAY[0]@N, $args, $locals, $regs, $REGISTER; /s in front collects strings, /s64 of at most 64 bytes."`
	If        planOption  `group:"What is traced:" placeholder:"EXPR" help:"Record a hit only if EXPR is not 0. It is evaluated at each hit, and may set trace state variables."`
	Pass      planOption  `group:"What is traced:" placeholder:"N" help:"End the run at the N-th hit."`
	Step      planOption  `group:"What is traced:" placeholder:"N[:EXPRS]" help:"Step N instructions after each hit, and collect EXPRS after each step (default: $$rip)."`
	Set       planOption  `group:"What is traced:" placeholder:"EXPRS" help:"Set trace state variables at each hit with a true condition, as in $$count = $$count + 1. They start at 0."`
	Backtrace spareOption `group:"What is traced:" placeholder:"BYTES" help:"Collect enough for a backtrace: registers, and ${backtraceBytes} bytes of the stack, or as many as --backtrace=BYTES says. Implied by --stacks."`
	Return    spareOption `group:"What is traced:" placeholder:"LOCATION" help:"Also record where the function of the --at in front returns, with $$return, what it returns, and $$took, the time since it was entered; --return=FUNCTION is short for --at FUNCTION --collect '$$args' --return. The options that follow belong to the returns."`
	Tvariable planOption  `group:"What is traced:" placeholder:"$$NAME=N" help:"Start a trace state variable at another number."`
	contentOptions
	Pending bool     `group:"What is traced:" help:"Accept a location that neither the program nor its libraries have: libraries that are loaded later are searched for it. --follow implies this, as a program that is executed later may have it."`
	Script  []string `group:"What is traced:" sep:"none" placeholder:"FILE" help:"Read tracepoints from a GDB script; may be given several times."`
}

// contentOptions say how much is collected of containers: what lies elsewhere than the value itself. They hold for the whole run,
// for expressions of --collect as well as of scripts.
type contentOptions struct {
	Elements flags.Positive `group:"What is traced:" placeholder:"N" default:"${elements}" help:"Collect at most N elements of each vector, map or other container of C++, Rust and Go (default: ${default})."`
	Text     flags.Positive `group:"What is traced:" placeholder:"N" default:"${text}" help:"Collect at most N characters of each string object (default: ${default})."`
	Depth    int            `group:"What is traced:" placeholder:"N" default:"${depth}" help:"Collect containers in containers up to N levels deep; 0 for no contents at all (default: ${default})."`
}

// subjectOptions say which process is traced.
type subjectOptions struct {
	PID         pidList  `name:"pid" short:"p" group:"Which program:" placeholder:"PID" complete:"processes" help:"Trace a running process, with all its threads (${here} only); may be given several times. It continues when the run ends."`
	Comm        []string `group:"Which program:" sep:"none" placeholder:"NAME" help:"Trace all running processes of this name, as pgrep -x finds them; may be given several times."`
	Follow      bool     `group:"Which program:" help:"Also trace child processes and, with --comm, processes of that name that begin later; if none runs yet, wait for the first."`
	NoRandomize bool     `group:"Which program:" help:"Launch the program without address space randomization, so that its addresses are the same in each run."`

	To                string `name:"to" aliases:"remote" group:"Which program:" placeholder:"STUB" help:"Record the program behind any stub of GDB's protocol: HOST:PORT, :PORT, unix:PATH, a serial device or '| COMMAND'. gdbserver and other stubs that support tracepoints do the tracing themselves; in front of others, such as QEMU, tracewell does. --remote is another name for this option."`
	Exec              string `group:"Which program:" placeholder:"ELF" help:"With --to: the file of the program that runs there, such as firmware.elf."`
	input.StubOptions `group:"Which program:"`
	Disconnected      bool `group:"Which program:" help:"With --to: start the run and disconnect. The stub continues tracing; it needs tracepoints of its own."`
	Fetch             bool `group:"Which program:" help:"With --to: fetch the frames of a run that was started with --disconnected. The run continues if it has not ended."`
	Stop              bool `group:"Which program:" help:"With --fetch: end the run first, and detach from the program."`
}

// runOptions say how long a run takes and where its frames go.
type runOptions struct {
	Duration flags.Span     `group:"The run:" placeholder:"TIME" help:"End the run after this time: 10s, 2m, 500ms."`
	Frames   flags.Positive `group:"The run:" placeholder:"N" help:"End the run at the N-th frame."`
	Output   string         `short:"o" group:"The run:" placeholder:"FILE" help:"The trace file, - for standard output (default: PROG.tf, or the first of PROG.2.tf and so on that does not exist; none with --print, --stacks and figures)."`
	Buffer   byteCount      `group:"The run:" placeholder:"SIZE" help:"Keep frames in memory until the run ends, at the latest when the buffer is full: 64M, 1G. Without this, frames are written as they are collected."`
	Circular bool           `group:"The run:" help:"When the buffer is full, overwrite the oldest frames instead of ending the run (${circularBytes} without --buffer)."`
	flags.Collecting
	Bare bool   `group:"The run:" help:"Collect only what is asked for, not also when a frame was made and by which thread ($$trace_timestamp, $$tid; with --follow $$pid)."`
	Note string `group:"The run:" placeholder:"TEXT" help:"Save a note in the file."`
	User string `group:"The run:" placeholder:"NAME" help:"Save the name of the user in the file."`
}

// tellOptions say what is printed.
type tellOptions struct {
	Print  bool                `group:"What is printed:" help:"Print a line for each frame while the program runs. Collects $$trace_timestamp even with --bare."`
	Format printing.LineFormat `group:"What is printed:" placeholder:"TEMPLATE" help:"The format of the lines, as in '{time} {location} n={n} {values}'. Implies --print. In braces: ${formatFields}, or an expression; {/x n} for hexadecimal."`
	Sync   bool                `group:"What is printed:" help:"With --print: have the thread wait until its line has been written. Every hit is a trap. Otherwise a line is there within a millisecond."`
	flags.Stacks
	View    bool    `group:"What is printed:" help:"Show the frames in a browser while they are recorded: print the address of a page, which stays until Ctrl-C."`
	JSON    bool    `name:"json" group:"What is printed:" help:"Print JSON: with --print a line for each frame, with --stacks for each stack, and at the end the result of the run."`
	List    *string `group:"What is printed:" placeholder:"PATTERN" complete:"locations" help:"Only list the functions and probes whose names match, where * matches any characters; FILE: lists the lines of a file, FILE:PATTERN its functions; /REGEXP/ is a regular expression."`
	Explain bool    `group:"What is printed:" help:"Print how the hits of each location are collected, as the run begins: by a pad, of which kind, or by a trap, and why."`
	DryRun  bool    `group:"What is printed:" help:"Only print the tracepoints, with addresses and the bytecode of expressions."`
	Verbose bool    `short:"v" group:"What is printed:" help:"Print all warnings about a tracepoint, not only the first."`
	Quiet   bool    `short:"q" group:"What is printed:" help:"Print only errors."`
}

// garbage is the GC percentage (GOGC). What is live are mostly tables of symbols without pointers, which are made once.
const garbage = 50

// Run implements kong's command. Whether this machine can trace at all is checked in front of everything but the options
// themselves; --list needs only an ELF file and --to only a connection, so they work everywhere.
func (c *Command) Run(ctx *kong.Context, streams console.Streams, version page.Version) error {
	debug.SetGCPercent(garbage)
	if err := c.check(); err != nil {
		return fmt.Errorf("%w (see tracewell record --help)", err)
	}
	if c.List == nil && c.To == "" {
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
	return c.record(p, streams, version)
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
		{!program && !c.attaches() && c.To == "", "record needs a program to launch, or --pid, --comm, or --to"},
		{program && c.attaches(), "--pid and --comm are for processes that run: a program can't be launched as well"},
		{c.attaches() && c.To != "", "--pid and --comm are for processes of this machine, and --to for one behind a stub"},
		{c.To != "" && len(c.command()) > 1,
			"with --to the program runs already: it takes no arguments, only the name of its file"},
		{c.To == "" && c.Exec != "", "--exec names the file of a program behind a stub: it needs --to"},
		{c.To == "" && (c.Tdesc != "" || c.Profile != ""), "--tdesc and --profile are for a stub: they need --to"},
		{c.NoRandomize && (c.attaches() || c.To != ""), "--no-randomize is for a program that record launches"},
		{c.Exec != "" && program, "--exec and the name behind the options are two files for one program"},
		{c.To != "" && c.Follow, "--follow can't be used together with --to"},
		{c.To == "" && (c.Disconnected || c.Fetch), "--disconnected and --fetch are for a stub: they need --to"},
		{c.Disconnected && c.Fetch, "--disconnected begins a run and --fetch gets what came of one: they can't be used together"},
		{c.Stop && !c.Fetch, "--stop goes with --fetch"},
		{c.Fetch && c.asks(),
			"--fetch gets what the server has recorded: it can't be used together with options that say what is traced"},
		{c.Disconnected && (c.Duration != 0 || c.Frames != 0 || c.Output != ""),
			"--disconnected writes no file and waits for nothing: --fetch does"},
		{(c.Disconnected || c.Fetch) && c.prints(), "--print and --stacks go with a run that is waited for"},
		{c.To != "" && (!c.Pads || c.WhenFull != 0),
			"--no-pads and --when-full can't be used together with --to: the stub decides"},
		{(c.Disconnected || c.Fetch) && (c.DryRun || c.Explain),
			"--dry-run and --explain are for a run that is waited for: they can't be used together with --disconnected and --fetch"},
		{c.List != nil && c.DryRun, "--list and --dry-run can't be used together"},
		{c.List != nil && c.asks(), "--list only lists: it can't be used together with options that say what is traced"},
		{c.Format.Given() && c.JSON, "--format and --json can't be used together"},
		{c.Fetch && c.Profile != "", "--profile says how to stop a program, and --fetch stops none"},
		{c.Bare && len(c.Return) > 0, "--return pairs the frames of a call by $tid, which --bare leaves out"},
		{c.Bare && c.Fetch, "--bare says what is collected, and --fetch gets what has been"},
		{c.Options.Given() && c.writesLines(),
			"figures take the place of lines: they can't be used together with --print and --format"},
		{c.Options.Given() && (c.Disconnected || c.Fetch || c.List != nil), "figures go with a run that is waited for"},
		{c.Every != 0 && !c.Options.Given(), "--every prints figures: it needs --count-by, --histogram or another figure"},
		{c.fileless() && (c.Buffer != 0 || c.Circular || c.Note != "" || c.User != ""),
			"--print, --stacks and figures need no file: --buffer, --circular, --note and --user go with one, by -o"},
		{c.Output == "-" && (c.prints() || c.JSON), "with -o - standard output is for the trace file: nothing else can be printed there"},
		// The page reads the file while frames are added to it.
		{c.View && (c.fileless() || c.Output == "-"), "--view shows the trace file: it needs one, as -o names it with --print"},
		{c.View && (c.Buffer != 0 || c.Circular), "--view shows frames as they come: --buffer and --circular write them at the end"},
		{c.View && (c.Disconnected || c.Fetch || c.List != nil || c.DryRun), "--view shows a run that is waited for"},
		{c.Sync && !c.writesLines(), "--sync says when a line is printed: it needs --print or --format"},
		{c.Sync && c.To != "", "--sync can't be used together with --to: the stub decides when its program goes on"},
		{c.DryRun && c.Explain, "--dry-run sets no tracepoint that could be explained"},
		{c.Counted() && c.Options.Given(), "--stacks and figures can't be used together"},
		{c.Counted() && c.writesLines(),
			"--stacks counts in place of printing frames: it can't be used together with --print"},
		{c.DryRun && (c.writesLines() || c.Counted()), "--dry-run records nothing that could be printed"},
	} {
		if rule.broken {
			return errors.New(rule.says)
		}
	}
	return c.Stacks.Check(c.JSON, c.Options.Given())
}

// writesLines reports whether each frame is printed.
func (c *Command) writesLines() bool { return c.Print || c.Format.Given() }

// prints reports whether frames are needed while the program runs, to print or to count them.
func (c *Command) prints() bool {
	return c.writesLines() || c.Counted() || c.Options.Given()
}

// attaches reports whether it is processes that run which are traced.
func (c *Command) attaches() bool { return len(c.PID) > 0 || len(c.Comm) > 0 }

// several reports whether there may be several of them.
func (c *Command) several() bool { return len(c.PID) > 1 || len(c.Comm) > 0 }

// asks reports whether any option or script says what to trace.
func (c *Command) asks() bool {
	// Every option of the group counts: those that only add to a tracepoint would be ignored in silence otherwise.
	o := &c.tracedOptions
	for _, given := range [][]string{o.At, o.Collect, o.If, o.Pass, o.Step, o.Set, o.Backtrace, o.Return, o.Tvariable, o.Script} {
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
	items := planItems(ctx)
	// Whoever has stacks counted need not know that they have to be collected.
	if c.Counted() && len(c.Backtrace) == 0 {
		items = append([]plan.Item{{Option: "--backtrace"}}, items...) // in front of the first --at it is for all
	}
	err := p.AddItems(items)
	if err != nil {
		return nil, err
	}
	if len(p.Tracepoints) == 0 {
		return nil, errors.New("there is nothing to trace: give a place by --at, or a --script; --list '*' lists places")
	}
	c.override(&p.Settings)
	if c.writesLines() && !c.JSON {
		p.CollectTexts(printing.ShownCharacters)
	}
	if c.Options.Given() {
		if c.figures, err = figures.New(&c.Options, int(c.Top), c.JSON); err != nil {
			return nil, err
		}
		if c.fileless() && c.Frames == 0 {
			c.figures.Repeat(p)
		}
		if err := c.figures.Collect(p); err != nil {
			return nil, err
		}
	}
	// Nobody keeps the frames of mere figures, which collect of time and thread what their keys are made of, and what calls are
	// paired by.
	if !c.Options.Given() || !c.fileless() || len(c.Return) > 0 {
		c.stamp(p)
	}
	return p, nil
}

// stamp has every frame tell when it was made, unless that is unwanted. Lines begin with it, so --print takes it in any case.
func (c *Command) stamp(p *plan.Plan) {
	if !c.Bare || c.writesLines() {
		always(p, trace.TimestampName)
	}
	if c.To == "" {
		c.sign(p)
		// Microseconds are too coarse for the time that a call takes. A stub has no such variable.
		p.OfCalls = append(p.OfCalls, builtin(trace.NanosecondsName))
	}
}

// sign has every frame tell by whom it was made, unless that is unwanted and no line tells it.
func (c *Command) sign(p *plan.Plan) {
	if !c.Bare || c.Format.Names("tid") || c.Format.Names("comm") {
		always(p, trace.ThreadIDName)
	}
	if (c.Follow || c.several()) && !c.Bare || c.Format.Names("pid") {
		always(p, trace.ProcessIDName)
	}
}

// always has every frame collect a built-in variable.
func always(p *plan.Plan, name string) {
	p.Always = append(p.Always, builtin(name))
}

// builtin is the expression that collects a built-in variable.
func builtin(name string) plan.Text {
	return plan.Text{Value: "$" + name, Origin: "record", Line: "$" + name}
}

// override replaces settings of scripts ("set trace-buffer-size" and the like) by options.
func (c *Command) override(s *plan.Settings) {
	if c.Buffer != 0 {
		s.BufferSize = int64(c.Buffer)
	}
	// GDB's "set trace-buffer-size unlimited" leaves the size to the stub; here it means that frames go to the file as they come,
	// which is 0. A circular buffer needs a size, so it gets the usual one.
	if s.BufferSize == plan.Unlimited || c.fileless() {
		s.BufferSize = 0
	}
	if c.fileless() {
		s.Circular = false
	}
	if s.Circular = s.Circular || c.Circular; s.Circular && s.BufferSize == 0 {
		s.BufferSize = circularBytes
	}
	if c.Note != "" {
		s.Notes = c.Note
	}
	s.Contents = container.Limits{Elements: int(c.Elements), Text: int(c.Text), Depth: c.Depth}
	if c.User != "" {
		s.User = c.User
	}
}

// circularBytes is the size of a circular buffer without --buffer, in bytes.
const circularBytes = 64 << 20

// executable is the path of the program, or of the first process of --pid; "" if there is none, or if that belongs to another user.
func (c *Command) executable() string {
	// The link in /proc can be read by whoever may trace the process, and ends in " (deleted)" if the file is gone: good enough for
	// a name.
	if command := c.command(); len(command) > 0 {
		return command[0]
	}
	if c.Exec != "" {
		return c.Exec
	}
	if len(c.PID) > 0 {
		if path, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", c.PID[0])); err == nil {
			return path
		}
	}
	return ""
}
