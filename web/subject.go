package web

import (
	"context"
	"errors"
	"net/url"
)

// Subject is what a page is about: a trace file, a comparison, an execution trace. Its methods may be called by several
// goroutines at once.
type Subject interface {
	// Kind is the module of the page that shows it: "frames", "comparison" or "execution".
	Kind() string
	// Title names it in the heading, such as the name of the file.
	Title() string
	// Answer answers a question of the page with a value of view/wire, which is sent as JSON. The error is shown to the user:
	// that of a question whose arguments are wrong, ErrNoQuestion if there is no such question, or that of the context, which
	// ends when the page has lost interest.
	Answer(ctx context.Context, question string, args url.Values) (any, error)
	// Static lists the questions whose answers a page that is written as one file carries.
	Static() []Question
}

// Live is a Subject that grows while the page is open.
type Live interface {
	Subject
	// Changed waits until the subject differs from what it was when a call returned seen, and returns what stands for it now. 0 is
	// what a page has seen that has asked nothing yet. It returns seen again, or earlier, at the end of the context, and
	// ended when nothing more will come.
	Changed(ctx context.Context, seen uint64) (now uint64, ended bool)
}

// Question is a question with its arguments.
type Question struct {
	Name string
	Args url.Values // nil for none
}

// Key is how a page of one file finds the answer again: the name and, behind a ?, the arguments sorted by name. The page
// computes the same (question in ask.js).
func (q Question) Key() string {
	if len(q.Args) == 0 {
		return q.Name
	}
	return q.Name + "?" + q.Args.Encode()
}

// ErrNoQuestion is the error of a question that a subject has no answer to, whatever its arguments.
var ErrNoQuestion = errors.New("no such question")
