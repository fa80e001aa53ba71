package input

import (
	"fmt"
	"os"
	"strings"

	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/target/remote"
)

// StubOptions are the flags of the commands that have a stub in front of a program, for what the stub does not say.
type StubOptions struct {
	Tdesc   string `placeholder:"FILE" help:"A target description to use in place of the stub's own, from any source that tdesc reads."`
	Profile string `placeholder:"NAME|FILE" help:"What the stub can bear: the name of a known kind, or a file with a profile as proxy --probe prints it (default: recognised, and learned)."`
}

// Read reads the files of the options, and that of the program that the stub has, "" for none.
func (o *StubOptions) Read(program string, rules DescriptionOptions, streams console.Streams) (options remote.Options, err error) {
	// The registers of OpenOCD and of old stubs do not tell the processor. The file does, and also the order of its bytes, which the
	// description never has.
	if program != "" {
		if err := options.ReadProgram(program); err != nil {
			return options, fmt.Errorf("%s: %w", program, err)
		}
	}
	// With a description of the user's the stub is not asked for its own, which may be wrong or missing.
	if o.Tdesc != "" {
		if options.Description, err = rules.Parse(o.Tdesc, streams); err != nil {
			return options, fmt.Errorf("--tdesc: %w", err)
		}
	}
	// Without one the stub is recognised when it has told its features.
	if o.Profile == "" {
		return options, nil
	}
	// A name comes first: a file of that name has to be given by its path.
	profile, known := remote.ProfileByName(o.Profile)
	if !known {
		b, err := os.ReadFile(o.Profile)
		if err == nil {
			profile, err = remote.ParseProfile(b)
		}
		if err != nil {
			return options, fmt.Errorf("--profile: %q is none of %s: %w", o.Profile, strings.Join(remote.ProfileNames(), ", "), err)
		}
	}
	// What it leaves open is learned all the same.
	options.Profile = &profile
	return options, nil
}
