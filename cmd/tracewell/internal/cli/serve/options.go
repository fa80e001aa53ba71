package serve

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"

	"tracewell/cmd/tracewell/internal/cli/flags"
	"tracewell/internal/serving"
	"tracewell/stub"
	"tracewell/target"
)

// serverOptions are gdbserver's options, of version 13, and harmless ones of other versions, so that scripts can replace
// gdbserver by tracewell serve. They stand before COMM; what follows belongs to the program.
type serverOptions struct {
	Once   bool `help:"Exit when the first client disconnects."`
	Multi  bool `help:"Keep serving clients, with or without a program: clients start programs (run) or attach to processes."`
	Attach bool `help:"Attach to the process whose PID stands in place of the program."`

	Wrapper              wrapperOption `help:"Launch programs through a command that executes them: --wrapper CMD ARGS -- COMM PROG."`
	DisableRandomization bool          `negatable:"" default:"true" help:"Launch programs without address space randomisation (the default)."`
	StartupWithShell     bool          `negatable:"" default:"true" help:"Accepted for compatibility with gdbserver; it has no effect, as no shell sees the arguments."`

	flags.Admission
	flags.Collecting

	View bool `help:"Show the frames of the trace run in a browser while GDB controls it: print the address of a page, which is there as long as the server."`

	RemoteDebug    bool         `help:"Log every packet."`
	Debug          bareOrValued `help:"Log the events of the program and the requests to it."`
	EventLoopDebug bool         `negatable:"" hidden:""`
	DebugFormat    string       `placeholder:"WORD,..." help:"Prefix of each log line: timestamp or all, none."`
	DebugFile      string       `placeholder:"FILE" help:"Write the log to a file (default: standard error)."`

	DisablePacket bareOrValued `help:"Do not support some packets, to test clients: --disable-packet=NAME,...; without a value, list the names."`
	Selftest      bareOrValued `hidden:""`
}

// wrapperOption is the command of --wrapper, which ends with the argument "--".
type wrapperOption []string

// Decode implements kong.MapperValue.
func (w *wrapperOption) Decode(ctx *kong.DecodeContext) error {
	for *w = nil; ; {
		switch token := ctx.Scan.Pop(); {
		case token.IsEOL():
			return errors.New(`the command has to end with "--"`)
		case token.String() == "--" && len(*w) == 0:
			return errors.New(`there is no command before "--"`)
		case token.String() == "--":
			return nil
		default:
			*w = append(*w, token.String())
		}
	}
}

// IsBool implements kong.BoolMapperValue, so that help shows no value behind an equals sign.
func (*wrapperOption) IsBool() bool { return true }

// bareOrValued is an option that may stand alone or have a value behind an equals sign, a list with commas; given twice, it
// has both lists.
type bareOrValued struct {
	given bool
	value string
}

// Decode implements kong.MapperValue.
func (o *bareOrValued) Decode(ctx *kong.DecodeContext) error {
	o.given = true
	if token := ctx.Scan.Peek(); token.Type == kong.FlagValueToken {
		o.value = strings.TrimPrefix(o.value+","+ctx.Scan.Pop().String(), ",")
	}
	return nil
}

// IsBool implements kong.BoolMapperValue.
func (*bareOrValued) IsBool() bool { return true }

// disableable is the output of gdbserver 13.1 for --disable-packet without a value, tabs included.
const disableable = `Disableable packets:
  vCont       	All vCont packets
  qC          	Querying the current thread
  qfThreadInfo	Thread listing
  Tthread     	Passing the thread specifier in the T stop reply packet
  threads     	All of the above
  T           	All 'T' packets
`

// disabled returns the packets to do without.
func (o *serverOptions) disabled() ([]string, error) {
	names := strings.FieldsFunc(o.DisablePacket.value, func(r rune) bool { return r == ',' })
	for _, name := range names {
		if !slices.Contains(strings.Fields(disableable), name) {
			return nil, fmt.Errorf("--disable-packet: don't know how to disable %q; "+
				"want vCont, qC, qfThreadInfo, Tthread, threads or T", name)
		}
	}
	return names, nil
}

// errNothingToServe is what is wrong with a command line that has too little on it.
var errNothingToServe = errors.New("serve needs a place to listen and a program, or --attach and a PID, or --multi")

// request is what a command line asks for.
type request struct {
	place   serving.Comm
	program target.Program // without a Path there is none
	pid     int            // of the process to attach to, 0 for none
	disable []string
}

// request parses the operands: COMM PROG ARGS, COMM PID with --attach, or COMM --attach PID, which older gdbservers had. The
// program gets the environment of the server; GDB changes it by packets (QEnvironmentHexEncoded).
func (o *serverOptions) request(operands []string) (request, error) {
	var r request
	var err error
	if r.disable, err = o.disabled(); err != nil {
		return r, err
	}
	if len(operands) == 0 {
		return r, errNothingToServe
	}
	if strings.HasPrefix(operands[0], "--") {
		return r, fmt.Errorf("unknown flag %s", operands[0])
	}
	if r.place, err = serving.ParseComm(operands[0]); err != nil {
		return r, err
	}
	// kong leaves --attach behind COMM to the operands, since what follows COMM may be the program's.
	rest, attach := operands[1:], o.Attach
	if len(rest) > 0 && rest[0] == "--attach" {
		rest, attach = rest[1:], true
	}
	switch {
	case attach:
		r.pid, err = parsePID(rest)
		return r, err
	case len(rest) == 0 && !o.Multi:
		return r, errNothingToServe
	}
	r.program = target.Program{Env: os.Environ(), Wrapper: o.Wrapper, RandomAddresses: !o.DisableRandomization}
	if len(rest) > 0 {
		r.program.Path, r.program.Args = rest[0], rest[1:]
	}
	return r, nil
}

// parsePID reads the only operand behind --attach and COMM, in decimal, or with 0x or 0 in front as C has it.
func parsePID(operands []string) (int, error) {
	if len(operands) != 1 {
		return 0, errors.New("--attach needs a place to listen and one PID")
	}
	pid, err := strconv.ParseInt(operands[0], 0, 32)
	if err != nil || pid <= 0 {
		return 0, fmt.Errorf("--attach: %q is no process id", operands[0])
	}
	return int(pid), nil
}

// debugLog makes what the debugging options ask for. A value of --debug names the parts that are to tell, as from
// gdbserver 15 on.
func (o *serverOptions) debugLog(usual io.Writer) (*stub.DebugLog, error) {
	// A client can change the log later, by "monitor set debug" and its like; hence Open, for files that it names.
	log := stub.NewDebugLog(usual)
	log.Open = func(path string) (io.WriteCloser, error) { return os.Create(path) }
	log.Packets = o.RemoteDebug
	if o.Debug.given {
		for _, part := range strings.Split(o.Debug.value, ",") {
			switch part {
			case "", "threads", "event-loop":
				log.Events = true
			case "remote":
				log.Packets = true
			case "all":
				log.Events, log.Packets = true, true
			default:
				return nil, fmt.Errorf("--debug: %q is none of all, threads, event-loop and remote", part)
			}
		}
	}
	if _, err := log.SetFormat(o.DebugFormat); err != nil {
		return nil, fmt.Errorf("--debug-format: %w", err)
	}
	if err := log.SetFile(o.DebugFile); err != nil {
		return nil, fmt.Errorf("--debug-file: %w", err)
	}
	return log, nil
}
