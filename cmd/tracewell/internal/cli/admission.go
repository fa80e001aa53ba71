package cli

import "tracewell/internal/serving"

// admissionOptions say who may connect to a server.
type admissionOptions struct {
	AnyUser bool `help:"Serve clients of every user of this machine; without, of the own user, root, and the user who ran sudo."`
}

// listen opens the place where clients connect.
func (o admissionOptions) listen(place serving.Comm, streams Streams) (serving.Listener, error) {
	return place.Listen(serving.Options{In: streams.In, Out: streams.Out, Messages: streams.Err, AnyUser: o.AnyUser})
}
