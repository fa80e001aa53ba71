package dap

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	protocol "github.com/google/go-dap"
)

// initializeArguments are those of initialize. Two of its members are true unless the client says otherwise, which the structs of
// go-dap cannot tell.
type initializeArguments struct {
	ClientID        string `json:"clientID"`
	LinesStartAt1   *bool  `json:"linesStartAt1"`
	ColumnsStartAt1 *bool  `json:"columnsStartAt1"`
	PathFormat      string `json:"pathFormat"`
}

// shift is by how much a number of the client's is less than one that begins with 1.
func shift(startsAt1 *bool) int {
	if startsAt1 != nil && !*startsAt1 {
		return 1
	}
	return 0
}

// toClient and fromClient convert numbers of lines.
func (a *initializeArguments) toClient(line int) int { return max(line-shift(a.LinesStartAt1), 0) }

func (a *initializeArguments) fromClient(line int) int { return line + shift(a.LinesStartAt1) }

// unmarshal reads arguments, which may be missing.
func unmarshal(raw json.RawMessage, to any) error {
	if len(raw) == 0 {
		return nil
	}
	return json.Unmarshal(raw, to)
}

// initialize says what the adapter can do. What only some debuggees can do is among it: which one it will be is not known yet.
func initialize(s *session, a *initializeArguments) (any, error) {
	if s.phase != greeted {
		return nil, errors.New("initialize was asked already")
	}
	if a.PathFormat != "" && a.PathFormat != "path" {
		return nil, fmt.Errorf("paths have to be as the system has them, not %q", a.PathFormat)
	}
	s.client, s.phase = *a, ready
	return protocol.Capabilities{
		SupportsConfigurationDoneRequest:   true,
		SupportsFunctionBreakpoints:        true,
		SupportsConditionalBreakpoints:     true,
		SupportsHitConditionalBreakpoints:  true,
		SupportsEvaluateForHovers:          true,
		SupportsStepBack:                   true,
		SupportsGotoTargetsRequest:         true,
		SupportsCompletionsRequest:         true,
		SupportsModulesRequest:             true,
		SupportsRestartRequest:             true,
		SupportsExceptionInfoRequest:       true,
		SupportTerminateDebuggee:           true,
		SupportsDelayedStackTraceLoading:   true,
		SupportsLoadedSourcesRequest:       true,
		SupportsLogPoints:                  true,
		SupportsTerminateRequest:           true,
		SupportsDataBreakpoints:            true,
		SupportsReadMemoryRequest:          true,
		SupportsDisassembleRequest:         true,
		SupportsCancelRequest:              true,
		SupportsBreakpointLocationsRequest: true,
		SupportsSteppingGranularity:        true,
		SupportsInstructionBreakpoints:     true,
	}, nil
}

// launch opens a recording or prepares to start a program.
func launch(s *session, a *launchArguments) (any, error) {
	if a.PID != 0 {
		return nil, errors.New("pid is for attach")
	}
	return nil, s.open(a)
}

// attach prepares to trace a process that runs.
func attach(s *session, a *launchArguments) (any, error) {
	if a.PID <= 0 || a.Trace != "" {
		return nil, errors.New("attach wants pid, the number of a process; launch opens recordings")
	}
	return nil, s.open(a)
}

// open makes the debuggee. Breakpoints can be set from then on.
func (s *session) open(a *launchArguments) (err error) {
	if s.debuggee != nil {
		return errors.New("there is a debuggee already")
	}
	s.sources = newSources(a)
	if a.Trace != "" {
		s.debuggee, err = s.openRecording(a)
	} else {
		s.debuggee, err = s.openLive(a)
	}
	if err != nil {
		s.debuggee = nil
		return err
	}
	s.arguments, s.phase, s.terminates = a, launched, a.PID == 0
	if len(a.LogPoints) > 0 {
		return s.setLogPoints(a.LogPoints)
	}
	s.announce()
	return nil
}

// announce tells the client that it can set breakpoints.
func (s *session) announce() {
	s.later = append(s.later, func() { s.tell("initialized", nil) })
}

// setLogPoints sets those of the launch configuration. What is wrong with one is said in the console: no line shows it.
// is loaded later may have its location.
func (s *session) setLogPoints(wanted []logPoint) error {
	var list []*breakpoint
	for _, w := range wanted {
		if w.Location == "" || w.Message == "" {
			return errors.New("each of logPoints has to have a location and a message")
		}
		list = append(list, (&breakpoint{function: w.Location}).conditions(w.Condition, w.HitCondition, w.Message))
	}
	s.breakpoints.replace(byArguments, "", list)
	placed, err := s.place(list)
	if err != nil {
		return err
	}
	for i, p := range placed {
		if !p.Verified {
			s.say("stderr", "log point at %s: %s", wanted[i].Location, p.Message)
		}
	}
	s.announce()
	return nil
}

// configured begins.
func configured(s *session, _ *protocol.ConfigurationDoneArguments) (any, error) {
	if s.begun {
		return nil, errors.New("configurationDone was asked already")
	}
	s.begun = true
	s.moves(func(ctx context.Context) (stop, error) { return s.debuggee.begin(ctx, s.arguments.stopsOnEntry()) })
	return nil, nil
}

// errEnded is in an error after which there is nothing to debug any more.
var errEnded = errors.New("the program cannot be traced")

// moves has a motion done after the response, and tells where it has ended.
func (s *session) moves(f func(context.Context) (stop, error)) {
	s.motion = func(ctx context.Context) {
		at, err := f(ctx)
		if err != nil {
			s.say("stderr", "%s", err)
			// Clients wait for an event, and show the console then.
			at = stop{reason: "pause", description: oneLine(err), thread: at.thread}
			if errors.Is(err, errEnded) {
				s.tell("terminated", nil)
				return
			}
		}
		s.stopped(at)
	}
}

// stopped tells that the debuggee stands still. What the client was given numbers of is gone.
func (s *session) stopped(at stop) {
	if at.reason == "" {
		return
	}
	s.handles.reset()
	s.lastStop = at
	s.tell("stopped", protocol.StoppedEventBody{Reason: at.reason, Description: at.description, Text: at.description,
		ThreadId: at.thread, AllThreadsStopped: true, HitBreakpointIds: at.hit})
}

// moveBy answers a request to move.
func (s *session) moveBy(m motion, thread int, granularity protocol.SteppingGranularity) error {
	if !s.begun {
		return errors.New("configurationDone has to come first")
	}
	if p, ok := s.debuggee.(pauser); ok {
		if err := p.refuses(m); err != nil {
			return err
		}
	}
	m.thread, m.single = thread, granularity == "instruction"
	s.moves(func(ctx context.Context) (stop, error) { return s.debuggee.move(ctx, m) })
	return nil
}

func next(s *session, a *protocol.NextArguments) (any, error) {
	return nil, s.moveBy(motion{way: stepOver}, a.ThreadId, a.Granularity)
}

func stepIn(s *session, a *protocol.StepInArguments) (any, error) {
	return nil, s.moveBy(motion{way: stepInto}, a.ThreadId, a.Granularity)
}

func stepOut(s *session, a *protocol.StepOutArguments) (any, error) {
	return nil, s.moveBy(motion{way: stepOutOf}, a.ThreadId, a.Granularity)
}

func stepBack(s *session, a *protocol.StepBackArguments) (any, error) {
	return nil, s.moveBy(motion{way: stepOver, backwards: true}, a.ThreadId, a.Granularity)
}

func goOn(s *session, a *protocol.ContinueArguments) (any, error) {
	err := s.moveBy(motion{way: onward}, a.ThreadId, "")
	return protocol.ContinueResponseBody{AllThreadsContinued: true}, err
}

func reverseContinue(s *session, a *protocol.ReverseContinueArguments) (any, error) {
	return nil, s.moveBy(motion{way: onward, backwards: true}, a.ThreadId, "")
}

// pauser is a debuggee that runs by itself.
type pauser interface {
	pause() (stop, error)
	// refuses is why there can be no such motion now, nil if there can.
	refuses(m motion) error
}

// pause shows where a debuggee stands. A search that is under way the reader has ended already.
func pause(s *session, a *protocol.PauseArguments) (any, error) {
	if p, ok := s.debuggee.(pauser); ok {
		at, err := p.pause()
		if err != nil {
			return nil, err
		}
		s.later = append(s.later, func() { s.stopped(at) })
		return nil, nil
	}
	s.later = append(s.later, func() { s.stopped(stop{reason: "pause", thread: a.ThreadId}) })
	return nil, nil
}

func restart(s *session, _ *struct{}) (any, error) {
	s.moves(s.debuggee.restart)
	return nil, nil
}

// terminate asks a program to end. Of a recording nothing runs, so the session ends.
func terminate(s *session, _ *protocol.TerminateArguments) (any, error) {
	if t, ok := s.debuggee.(interface{ terminate() error }); ok {
		return nil, t.terminate()
	}
	s.later = append(s.later, func() { s.tell("terminated", nil) })
	return nil, nil
}

// disconnect ends the session.
func disconnect(s *session, a *struct {
	TerminateDebuggee *bool `json:"terminateDebuggee"`
}) (any, error) {
	s.over = true
	if a.TerminateDebuggee != nil {
		s.terminates = *a.TerminateDebuggee
	}
	return nil, nil
}

// exceptionInfo says why the debuggee stands where it stands.
func exceptionInfo(s *session, _ *protocol.ExceptionInfoArguments) (any, error) {
	if s.lastStop.reason == "" {
		return nil, errors.New("nothing has stopped")
	}
	at := s.lastStop
	return protocol.ExceptionInfoResponseBody{ExceptionId: at.reason, Description: at.description, BreakMode: "always"}, nil
}
