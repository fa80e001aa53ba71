// Package cli is the command line: a folder for each command that has several files, and a file for each other. A command reads
// flags, calls the library that does the work, and turns the outcome into output and an exit status. There is no logic here that
// a program could want without a terminal.
//
// # How a command runs
//
// main calls Run with the arguments and the three standard streams. Run rewrites the arguments where kong's grammar is narrower
// than that of the tools which tracewell replaces or resembles (match.Words, flags.JoinNegatives, flags.OperandsLast), has kong
// parse them into the struct of one command, and calls its method Run. A command checks its options before it opens a file or
// launches a program, so that a mistake costs nothing; it returns an error, from which this package makes a message and an exit
// status.
//
// # Streams and exit status
//
// Data goes to standard output and everything else, as warnings, progress and errors, to standard error, so a pipe gets nothing but
// data. A bar or a table that moves is drawn on terminals only. A reader that goes away early, as head does, is no failure
// (console.Write). The exit status is 0 for done, 1 for a difference or a finding, 2 for wrong usage, unreadable input or
// failure, as with diff. record returns the status of the program that it launched instead, or as a shell does 128 and the number
// of the signal that killed it; serve, record and replay return 128 and the number, too, when a signal other than SIGINT, SIGTERM
// and SIGHUP ends them.
//
// # Text from elsewhere
//
// Names of files, symbols and registers come from files and stubs that others have made. text.Visible escapes what
// commands a terminal in them, before they are printed: otherwise a symbol could move the cursor or change the window's title.
package cli

import (
	"errors"
	"fmt"

	"github.com/alecthomas/kong"

	"tracewell/cmd/tracewell/internal/cli/check"
	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/cmd/tracewell/internal/cli/convert"
	"tracewell/cmd/tracewell/internal/cli/dap"
	"tracewell/cmd/tracewell/internal/cli/demo"
	"tracewell/cmd/tracewell/internal/cli/figures"
	"tracewell/cmd/tracewell/internal/cli/flags"
	"tracewell/cmd/tracewell/internal/cli/input"
	"tracewell/cmd/tracewell/internal/cli/match"
	"tracewell/cmd/tracewell/internal/cli/mend"
	"tracewell/cmd/tracewell/internal/cli/page"
	"tracewell/cmd/tracewell/internal/cli/proxy"
	"tracewell/cmd/tracewell/internal/cli/query"
	"tracewell/cmd/tracewell/internal/cli/record"
	"tracewell/cmd/tracewell/internal/cli/replay"
	"tracewell/cmd/tracewell/internal/cli/serve"
	"tracewell/cmd/tracewell/internal/cli/show"
	"tracewell/cmd/tracewell/internal/cli/tdesc"
	"tracewell/cmd/tracewell/internal/cli/view"
	"tracewell/internal/completion"
	"tracewell/internal/text"
)

// commands is the whole command line, as kong reads it from the tags. The help, the manual pages (internal/manpage) and the words
// that shells complete (internal/completion) are made of the same declarations, so a new option needs no entry anywhere else.
type commands struct {
	Serve    serve.Command    `cmd:"" help:"Run a program under a server that GDB connects to (${here} only)."`
	Proxy    proxy.Command    `cmd:"" help:"Serve GDB in front of any stub, with tracepoints and conditions that the stub lacks."`
	Record   record.Command   `cmd:"" help:"Trace a program without GDB: source lines and expressions in, a trace file out (${here}; elsewhere with --to and --list only)."`
	Mend     mend.Command     `cmd:"" help:"Remove what a tracer that was killed has left in a program, and save its frames (${here} only)."`
	Replay   replay.Command   `cmd:"" help:"Serve a recorded trace to GDB."`
	Dap      dap.Command      `cmd:"" help:"Serve an editor by the Debug Adapter Protocol: recordings, and programs that run (${here})."`
	Show     show.Command     `cmd:"" help:"Print the frames of a trace file."`
	View     view.Command     `cmd:"" help:"Show a trace in a browser, or write it as a page of one file."`
	Describe show.InfoCommand `cmd:"" name:"info" help:"Print the header, the definitions and the counts of a trace file."`
	Check    check.Command    `cmd:"" help:"Report what is wrong with a trace file, and repair it."`
	Convert  convert.Command  `cmd:"" help:"Write trace files and execution traces in another format; merge and cut trace files."`
	Match    match.Command    `cmd:"" help:"Compare execution traces, and report where two executions diverge."`
	Query    query.Command    `cmd:"" help:"Ask an execution trace who wrote a value, what was known at a moment, what was executed."`
	Generate generateCommand  `cmd:"" name:"gen-trace" help:"Generate an execution trace to test tools with, with faults if wanted."`
	Demo     demo.Command     `cmd:"" help:"Trace a small built-in program and print what was collected (Linux x86-64 only)."`
	Tdesc    tdesc.Command    `cmd:"" help:"Check, lay out, print and compare target descriptions."`

	Help       helpCommand       `cmd:"" help:"Explain a command, as --help does."`
	About      versionCommand    `cmd:"" name:"version" help:"Print the version, with the commit that it was built from."`
	Completion completionCommand `cmd:"" help:"Print a script by which a shell completes command lines of tracewell."`
	Man        manCommand        `cmd:"" help:"Write the manual pages."`

	Version kong.VersionFlag `help:"Print the version and exit."`
}

// exit is the panic by which --help and --version end parsing. kong would call os.Exit, and deferred functions, tests and the
// terminal would not survive that.
type exit struct{ status int }

// Run runs one command line, without the name of the program, and returns its exit status. It prints the error, unless the
// command has printed its own (console.ErrTold), and keeps nothing in global variables, so that tests run many command lines in
// one process. Only serve and record change the process for good: both ignore the stops of a terminal
// (console.IgnoreTerminalStops), and serve sets the GC percentage.
func Run(args []string, streams console.Streams) (status int) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case exit:
			status = r.status
		default:
			panic(r)
		}
	}()
	var c commands
	// The parser is made anew for each command line: kong writes the values into c, and c is not used twice.
	parser, err := kong.New(&c, parserOptions(streams)...)
	if err != nil {
		panic(err) // the declarations above are wrong
	}
	// Without arguments there is nothing to do, but the user wants to know what there is: that is help, and no error.
	if len(args) == 0 {
		args = []string{"--help"}
	}
	// The shells' scripts call this for each Tab, before anything of the command line has to be complete or right.
	if args[0] == completion.Command {
		completion.Answer(streams.Out, parser.Model, completes, args[1:])
		return console.StatusDone
	}
	context, err := parser.Parse(flags.OperandsLast(parser.Model, flags.JoinNegatives(parser.Model, match.Words(args))))
	if err == nil {
		err = context.Run()
	} else {
		err = flags.Misused(err)
	}
	// A finding and a failure that the command has told have been printed. errors.Is and errors.As find them in joined errors, too.
	var program console.ExitStatus
	switch {
	case err == nil:
		return console.StatusDone
	case errors.As(err, &program):
		return int(program)
	case errors.Is(err, console.ErrFinding):
		return console.StatusFinding
	case errors.Is(err, console.ErrTold):
		return console.StatusFailure
	}
	// Names of files and symbols stand in errors as they are, and may come from a file that somebody else has made.
	fmt.Fprintf(streams.Err, "tracewell: %s\n", text.VisibleLines(err.Error()))
	return console.StatusFailure
}

// parserOptions configure the parser. Variables stand in help texts for lists that other packages keep, so that help never lags
// behind.
func parserOptions(streams console.Streams) []kong.Option {
	return []kong.Option{
		kong.Name("tracewell"),
		kong.Description("Traces programs without stopping them: GDB tracepoints, trace files, execution traces."),
		kong.Vars{"version": versionLine(builtFrom())},
		flags.Variables(kong.Vars{"tdescSource": input.DescriptionSources, "architectures": input.Architectures(),
			"readFormats": convert.ReadFormats(), "writeFormats": convert.WriteFormats()},
			match.Variables(), record.Variables(), figures.Variables()),
		kong.Writers(streams.Out, streams.Err),
		kong.Exit(func(status int) { panic(exit{status}) }),
		kong.Help(help),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}),
		// What commands get as arguments of Run, by type. A page shows the version, which is in no flag of its command.
		kong.Bind(streams, page.Version(versionLine(builtFrom()))),
	}
}

// help prints a command's examples above kong's own text: most users who ask for help want a line to start from.
func help(options kong.HelpOptions, ctx *kong.Context) error {
	// Without a command it is the help of the program, which has none.
	if node := ctx.Selected(); node != nil {
		if examples := flags.ExamplesOf(node); examples != "" {
			fmt.Fprintf(ctx.Stdout, "Examples:\n%s\n", examples)
		}
	}
	return kong.DefaultHelpPrinter(options, ctx)
}
