package cli

import (
	"cmp"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"

	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/cmd/tracewell/internal/cli/convert"
	"tracewell/cmd/tracewell/internal/cli/input"
	"tracewell/internal/completion"
	"tracewell/internal/sys"
	"tracewell/itrace/dialects"
	"tracewell/itrace/match/profile"
	"tracewell/symbol"
	"tracewell/tdesc"
	"tracewell/tfile"
)

// completionCommand is "tracewell completion".
type completionCommand struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"The shell: ${enum}."`
}

// Examples implements flags.Exampler.
func (*completionCommand) Examples() string {
	return `  source <(tracewell completion bash)            # in ~/.bashrc
  source <(tracewell completion zsh)             # in ~/.zshrc, behind compinit
  tracewell completion fish | source             # in ~/.config/fish/config.fish
`
}

// Run implements kong's command. The script is thin: it calls tracewell again for each Tab (completion.Command), so a shell that
// has loaded it once completes the options of a newer program, too.
func (c *completionCommand) Run(streams console.Streams) error {
	return completion.WriteScript(streams.Out, c.Shell, "tracewell")
}

// completes are functions that complete values which depend on files, processes and tables, by the tag "complete" of an option.
// They run while somebody waits for a shell: they print nothing, and return nothing for what they cannot read.
var completes = map[string]completion.Values{
	"commands":    completeCommands,
	"locations":   completeLocations,
	"processes":   completeProcesses,
	"tracepoints": completeTracepoints,
	"registers":   completeRegisters,
	"formats":     completeFormats,
	"dialects":    completeDialects,
	"profiles":    completeProfiles,
}

// locationLimit is the most locations that a shell is given. Nobody reads more, and zsh becomes slow.
const locationLimit = 1000

// completeCommands completes the operands of help: commands of the program, or of the command that stands on the line already.
func completeCommands(line *completion.Line, _ string) (found []completion.Candidate) {
	node := line.Command
	for node.Parent != nil {
		node = node.Parent
	}
	// Behind "help tdesc" come the commands of tdesc; behind a word that is none comes nothing.
	for _, word := range line.Operands {
		i := slices.IndexFunc(node.Children, func(n *kong.Node) bool { return n.Name == word })
		if i < 0 {
			return nil
		}
		node = node.Children[i]
	}
	for _, child := range node.Children {
		if !child.Hidden {
			found = append(found, completion.Candidate{Word: child.Name, Help: child.Help})
		}
	}
	return found
}

// completeLocations are the functions of the program, and behind "FILE:" the lines that have code. The program is that of --exec or
// --pid, or the one to be launched.
func completeLocations(line *completion.Line, beginning string) []completion.Candidate {
	// The names are read anew for each Tab: nothing is cached between two runs, so a program that was rebuilt has its new lines.
	program, err := symbol.Open(programOf(line), symbol.Options{})
	if err != nil {
		return nil
	}
	defer program.Close()
	// The colon of "*0x1234" is none, and two colons are the scope of a C++ name, not a file and a line.
	file, _, inFile := strings.Cut(beginning, ":")
	inFile = inFile && !strings.HasPrefix(beginning, "*") && !strings.Contains(beginning, "::")
	pattern := beginning + "*"
	if inFile {
		pattern = file + ":"
	}
	locations, err := program.List(pattern)
	if err != nil {
		return nil
	}
	var found []completion.Candidate
	for _, l := range locations {
		c := completion.Candidate{Word: l.Function}
		if l.File != "" {
			c.Help = l.File + ":" + strconv.Itoa(l.Line)
		}
		if inFile {
			c = completion.Candidate{Word: file + ":" + strconv.Itoa(l.Line), Help: l.Function}
		}
		if c.Word != "" && strings.HasPrefix(c.Word, beginning) {
			found = append(found, c)
		}
	}
	// A function that was inlined has many locations, and is one word.
	slices.SortStableFunc(found, func(a, b completion.Candidate) int { return cmp.Compare(a.Word, b.Word) })
	found = slices.CompactFunc(found, func(a, b completion.Candidate) bool { return a.Word == b.Word })
	return found[:min(len(found), locationLimit)]
}

// programOf is the ELF file whose names a command line uses: --exec, the process of --pid, the program that record launches, or
// the one that the trace file says was traced.
func programOf(line *completion.Line) string {
	if exec := line.Options["exec"]; len(exec) > 0 {
		return exec[len(exec)-1]
	}
	if pid := line.Options["pid"]; len(pid) > 0 {
		return "/proc/" + pid[len(pid)-1] + "/exe"
	}
	if line.Command.Name == "record" && len(line.Operands) > 0 {
		return line.Operands[0]
	}
	// show and info take a trace file, whose description may name the program that was traced (input.RecordedPath).
	header, ok := headerOf(line)
	if !ok {
		return ""
	}
	path, _ := input.RecordedPath(header)
	return path
}

// headerOf reads the header of the trace file that is the first operand. A pipe is left alone, as reading it would take it away
// from the command, and warnings go to /dev/null, as the user is typing in that terminal.
func headerOf(line *completion.Line) (header tfile.Header, ok bool) {
	if len(line.Operands) == 0 || line.Operands[0] == "-" {
		return header, false
	}
	if info, err := os.Stat(line.Operands[0]); err != nil || !info.Mode().IsRegular() {
		return header, false
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return header, false
	}
	defer null.Close()
	t, content, err := input.OpenContent(line.Operands[0], console.Streams{In: null, Out: null, Err: null}, nil)
	if t == nil || err != nil {
		return header, false
	}
	defer t.Close()
	return content.Header(), true
}

// completeTracepoints are the numbers that a trace file defines, with their addresses. A tracepoint of several locations is in the
// file once for each.
func completeTracepoints(line *completion.Line, _ string) (found []completion.Candidate) {
	header, ok := headerOf(line)
	if !ok {
		return nil
	}
	for _, tp := range header.Tracepoints {
		found = append(found, completion.Candidate{Word: strconv.Itoa(int(tp.Number)), Help: tp.Addr.String()})
	}
	return found
}

// completeRegisters are those of the description in a trace file.
func completeRegisters(line *completion.Line, beginning string) (found []completion.Candidate) {
	header, ok := headerOf(line)
	if !ok || header.Description == "" {
		return nil
	}
	description, _, err := tdesc.Parse([]byte(header.Description), nil)
	if err != nil {
		return nil
	}
	// Only the last of the registers is completed; those in front of it are part of the word that the shell replaces.
	earlier := beginning[:strings.LastIndexByte(beginning, ',')+1] // the option takes a list
	for _, r := range description.Registers() {
		found = append(found, completion.Candidate{Word: earlier + r.Name, Help: r.Type})
	}
	return found
}

// completeProcesses are the processes that this user may trace, in the order of /proc, with their names: whoever may read the
// link to the executable may also ptrace the process (ptrace(2), PTRACE_MODE_READ), but for Yama.
func completeProcesses(*completion.Line, string) (found []completion.Candidate) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		if _, err := sys.Executable(pid); err != nil { // another user's, or a thread of the kernel
			continue
		}
		found = append(found, completion.Candidate{Word: e.Name(), Help: sys.ThreadName(pid)})
	}
	return found
}

// completeFormats are the formats of --from and --to, also those that can only be read or written.
func completeFormats(*completion.Line, string) (found []completion.Candidate) {
	for _, f := range slices.Concat(convert.Formats, convert.ExecutionFormats) {
		found = append(found, completion.Candidate{Word: f.Name})
	}
	return found
}

// completeDialects are the formats of execution traces.
func completeDialects(*completion.Line, string) (found []completion.Candidate) {
	for _, d := range dialects.All {
		found = append(found, completion.Candidate{Word: d.Name})
	}
	return found
}

// completeProfiles are the sets of options for pairs of producers.
func completeProfiles(*completion.Line, string) (found []completion.Candidate) {
	for _, p := range profile.All {
		found = append(found, completion.Candidate{Word: p.Name, Help: p.Help})
	}
	return found
}
