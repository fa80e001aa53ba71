package web

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"embed"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"net"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"

	"tracewell/internal/jsontext"
	"tracewell/internal/routine"
	"tracewell/view/wire"
)

// assets is the page, with the licences of what others made. What only checks it stays out.
//
//go:embed assets/*.html assets/*.css assets/*.js assets/vendor/*.css assets/vendor/*.js assets/vendor/*.txt
var assets embed.FS

// policy is the Content-Security-Policy of the page. Images are pictures that the page makes of its own canvases.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Limits of a request. Whoever connects need not know the token, so none can be held for long.
const (
	headerTime  = 5 * time.Second
	headerBytes = 16 << 10
	changeTime  = 25 * time.Second // after which "changed" is answered without a change
	closingTime = time.Second      // that answers have left when the server ends
)

// Server answers the requests of one page.
type Server struct {
	subject Subject
	version string
	token   string
	host    string // as the Host header has to be
	http    http.Server
}

// NewServer returns a server of a page about a subject, which is for a listener on a loopback address. The version is that of
// Tracewell.
func NewServer(subject Subject, version string, listener net.Listener) *Server {
	random := make([]byte, 18)
	rand.Read(random) // it never fails
	s := &Server{
		subject: subject, version: version,
		token: base64.RawURLEncoding.EncodeToString(random), host: listener.Addr().String(),
	}
	s.http = http.Server{
		Handler: s, ReadHeaderTimeout: headerTime, MaxHeaderBytes: headerBytes,
		// The log of package http is about clients that break off, which is none of the user's business.
		ErrorLog: log.New(discard{}, "", 0),
	}
	return s
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

// URL is the address of the page, with the token.
func (s *Server) URL() string { return "http://" + s.host + "/" + s.token + "/" }

// Serve answers requests until the context ends, which is no error.
func (s *Server) Serve(ctx context.Context, listener net.Listener) error {
	s.http.BaseContext = func(net.Listener) context.Context { return ctx } // questions end with the server
	done := make(chan error, 1)
	routine.Go(func() { done <- s.http.Serve(listener) })
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), closingTime)
	defer cancel()
	if s.http.Shutdown(closing) != nil {
		s.http.Close()
	}
	<-done
	return nil
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Content-Security-Policy", policy)
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("X-Frame-Options", "DENY")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Cache-Control", "no-store")
	if status := s.refusal(r); status != 0 {
		http.Error(w, http.StatusText(status), status)
		return
	}
	rest, ok := s.behindToken(r.URL.Path)
	if !ok {
		http.NotFound(w, r)
		return
	}
	if question, ok := strings.CutPrefix(rest, "ask/"); ok {
		s.ask(w, r, question)
		return
	}
	s.asset(w, r, rest)
}

// refusal is the status with which a request is refused before its path is looked at, or 0.
func (s *Server) refusal(r *http.Request) int {
	if r.Host != s.host {
		return http.StatusMisdirectedRequest
	}
	// A browser says for whom it asks. same-site is no better than cross-site: every port of the machine is of one site.
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" {
		return http.StatusForbidden
	}
	if origin := r.Header.Get("Origin"); origin != "" && origin != "http://"+s.host {
		return http.StatusForbidden
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return http.StatusMethodNotAllowed
	}
	return 0
}

// behindToken is what a path has behind the token. The comparison takes the same time for each wrong token.
func (s *Server) behindToken(path string) (string, bool) {
	token, rest, ok := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	if !ok || subtle.ConstantTimeCompare([]byte(token), []byte(s.token)) != 1 {
		return "", false
	}
	return rest, true
}

// contentTypes are those of the assets that are sent.
var contentTypes = map[string]string{
	".html": "text/html; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".txt":  "text/plain; charset=utf-8",
}

// asset sends a file of the page.
func (s *Server) asset(w http.ResponseWriter, r *http.Request, name string) {
	if name == "" {
		name = "index.html"
	}
	kind := contentTypes[path.Ext(name)]
	if kind == "" || !fs.ValidPath(name) {
		http.NotFound(w, r)
		return
	}
	content, err := assets.ReadFile("assets/" + name)
	if err != nil {
		http.NotFound(w, r)
		return
	}
	send(w, kind, http.StatusOK, content)
}

func send(w http.ResponseWriter, kind string, status int, content []byte) {
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Length", strconv.Itoa(len(content)))
	w.WriteHeader(status)
	w.Write(content) // of a HEAD request package http drops it; of a client that is gone nobody needs to know
}

// ask answers a question.
func (s *Server) ask(w http.ResponseWriter, r *http.Request, question string) {
	args, err := url.ParseQuery(r.URL.RawQuery)
	var answer any
	if err == nil {
		answer, err = s.answerSafely(r.Context(), question, args)
	}
	status := http.StatusOK
	switch {
	case err == nil:
	case errors.Is(err, ErrNoQuestion):
		status = http.StatusNotFound
	default:
		status = http.StatusBadRequest
	}
	if err != nil {
		answer = wire.PageError{Error: err.Error()}
	}
	content, err := jsontext.Append(nil, answer)
	if err != nil {
		content, _ = jsontext.Append(nil, wire.PageError{Error: err.Error()})
		status = http.StatusInternalServerError
	}
	send(w, "application/json", status, content)
}

// answerSafely is answer, but for that a panic becomes an error: one answer that fails must not end the page, and its user should
// see what has failed.
func (s *Server) answerSafely(ctx context.Context, question string, args url.Values) (answer any, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("internal error in %q: %v", question, r)
		}
	}()
	return s.answer(ctx, question, args)
}

// answer answers the questions of all subjects, and has the subject answer its own.
func (s *Server) answer(ctx context.Context, question string, args url.Values) (any, error) {
	live, isLive := s.subject.(Live)
	switch {
	case question == "page":
		return wire.Page{Kind: s.subject.Kind(), Title: s.subject.Title(), Version: s.version, Live: isLive}, nil
	case question != "changed":
		return s.subject.Answer(ctx, question, args)
	case !isLive:
		return wire.PageChange{Ended: true}, nil
	}
	seen, err := strconv.ParseUint(args.Get("seen"), 10, 64)
	if err != nil {
		return nil, fmt.Errorf("seen: %w", err)
	}
	waiting, cancel := context.WithTimeout(ctx, changeTime)
	defer cancel()
	now, ended := live.Changed(waiting, seen)
	return wire.PageChange{Seen: now, Ended: ended}, nil
}
