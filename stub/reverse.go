package stub

import (
	"errors"

	"tracewell/rsp/request"
	"tracewell/target"
)

// errReverseNonStop refuses to go backwards in non-stop mode, where one thread would have to go without the others.
var errReverseNonStop = errors.New("nothing runs backwards in non-stop mode")

// goBack is bc and stepBack is bs. There is no form of vCont for them.
func (x *session) goBack(request.None) ([]byte, error)   { return x.resumeBack(target.Go) }
func (x *session) stepBack(request.None) ([]byte, error) { return x.resumeBack(target.StepOne) }

func (x *session) resumeBack(verb target.Verb) ([]byte, error) {
	if x.debuggee.NonStop() {
		return nil, errReverseNonStop
	}
	// GDB sends Hc in front of these, as it does for c and s; what does not step goes on along with the thread that does.
	id, rest, err := x.oldChoice()
	if err != nil {
		return nil, err
	}
	return x.startIn(true, append([]target.Action{{Thread: id, Verb: verb, Anew: true}}, rest...))
}
