package record

import (
	"fmt"
	"time"

	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/cmd/tracewell/internal/cli/input"
	"tracewell/record"
	"tracewell/target/remote"
	"tracewell/tdesc"
)

// openPeer prepares a run of the program behind a stub, which does the tracing if it has tracepoints of its own.
func (c *Command) openPeer(config record.Config, streams console.Streams) (*record.Session, *remote.Target, error) {
	on, err := c.connect(streams)
	if err != nil {
		return nil, nil, err
	}
	if on.Tracer().Collector() == nil {
		c.sign(config.Plan) // a stub with tracepoints does not know who is at one
	}
	// The session closes the host, and that the target, also after an error.
	session, err := record.Open(record.NewPeer(on, c.executable(), on.Close), config)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", c.To, err)
	}
	return session, on, nil
}

// connect makes a target of the stub. What that leaves out of its description the program's file says: what processor it is for.
func (c *Command) connect(streams console.Streams) (*remote.Target, error) {
	options, err := c.StubOptions.Read(c.executable(), descriptionRules, streams)
	if err != nil {
		return nil, err
	}
	// Files, libraries and the program's name are the stub's affair only where somebody else asks for them.
	options.Processes = true
	address, err := remote.ParseAddress(c.To)
	if err != nil {
		return nil, err
	}
	// A command is started once, and some stubs take one client in their life: there is no second connection.
	conn, err := address.Dial()
	if err != nil {
		return nil, err
	}
	on, err := remote.Open(conn, options)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.To, err)
	}
	return on, nil
}

// descriptionRules are those of --tdesc: of commands that are about descriptions they can be chosen.
var descriptionRules = input.DescriptionOptions{Strict: input.DescriptionRules(tdesc.ByGDB), Timeout: 5 * time.Second}
