package flags

import (
	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/internal/serving"
)

// Admission are the flags of a command that listens: who may connect to it. The rules are those of package serving.
type Admission struct {
	AnyUser bool `help:"Serve clients of every user of this machine, not only of your own user, root, and the user who ran sudo."`
}

// ListenOn opens the place where clients connect. Who connects and who is refused is reported to standard error. The protocol has
// no password, so whoever is admitted to a live program can do with it what its user can.
func (o Admission) ListenOn(place serving.Comm, streams console.Streams) (serving.Listener, error) {
	return place.Listen(serving.Options{In: streams.In, Out: streams.Out, Messages: streams.Err, AnyUser: o.AnyUser})
}
