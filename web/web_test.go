package web

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
	"time"
)

// echo answers with what it was asked.
type echo struct{}

func (echo) Kind() string  { return "frames" }
func (echo) Title() string { return "</title><script>alert(1)</script>" }

func (echo) Answer(ctx context.Context, question string, args url.Values) (any, error) {
	switch question {
	case "echo":
		return map[string]any{"args": args}, nil
	case "wrong":
		return nil, errors.New("it is wrong")
	case "panics":
		panic("for a test")
	case "waits":
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return nil, ErrNoQuestion
}

func (echo) Static() []Question {
	return []Question{{Name: "echo", Args: url.Values{"b": {"</script><!--"}, "a": {"1"}}}, {Name: "wrong"}}
}

// growing has more as soon as it is asked.
type growing struct{ echo }

func (growing) Changed(_ context.Context, seen uint64) (uint64, bool) { return seen + 1, seen > 1 }

// serve serves a subject.
func serve(t *testing.T, subject Subject) *Server {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := NewServer(subject, "version", listener)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, listener) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return s
}

// get asks for a path behind the token.
func get(t *testing.T, s *Server, path string) (int, string, http.Header) {
	t.Helper()
	answer, err := http.Get(s.URL() + path)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(body), answer.Header
}

// TestRefusals: requests from another origin, without the token, with another Host, to other paths and with other methods get
// nothing.
func TestRefusals(t *testing.T) {
	s := serve(t, echo{})
	right := strings.TrimPrefix(s.URL(), "http://"+s.host)
	for _, test := range []struct {
		method, path, host string
		header             [2]string
		status             int
	}{
		{"GET", right, "", [2]string{}, 200},
		{"HEAD", right, "", [2]string{}, 200},
		{"GET", right + "ask/page", "", [2]string{"Sec-Fetch-Site", "same-origin"}, 200},
		{"GET", right, "", [2]string{"Sec-Fetch-Site", "none"}, 200},
		{"GET", right + "ask/page", "", [2]string{"Origin", "http://" + s.host}, 200},

		{"GET", right, "evil.example", [2]string{}, 421},
		{"GET", right, "localhost", [2]string{}, 421},
		{"GET", right, strings.Replace(s.host, "127.0.0.1", "localhost", 1), [2]string{}, 421},
		{"GET", right, "", [2]string{"Origin", "http://evil.example"}, 403},
		{"GET", right, "", [2]string{"Origin", "null"}, 403},
		{"GET", right, "", [2]string{"Sec-Fetch-Site", "cross-site"}, 403},
		{"GET", right, "", [2]string{"Sec-Fetch-Site", "same-site"}, 403},
		{"POST", right + "ask/page", "", [2]string{}, 405},
		{"PUT", right, "", [2]string{}, 405},
		{"DELETE", right, "", [2]string{}, 405},
		{"OPTIONS", right, "", [2]string{}, 405},
		{"CONNECT", right, "", [2]string{}, 405},

		{"GET", "/", "", [2]string{}, 404},
		{"GET", "/index.html", "", [2]string{}, 404},
		{"GET", "/ask/page", "", [2]string{}, 404},
		{"GET", strings.TrimSuffix(right, "/"), "", [2]string{}, 404},
		{"GET", right[:len(right)-2] + "/", "", [2]string{}, 404},
		{"GET", "/" + strings.Repeat("A", len(right)-2) + "/app.js", "", [2]string{}, 404},
		{"GET", right + "../web.go", "", [2]string{}, 404},
		{"GET", right + "..%2f..%2fgo.mod", "", [2]string{}, 404},
		{"GET", right + "/etc/passwd", "", [2]string{}, 404},
		{"GET", right + "vendor", "", [2]string{}, 404},
		{"GET", right + "tsconfig.json", "", [2]string{}, 404},
		{"GET", right + "ask/nothing", "", [2]string{}, 404},
		{"GET", right + "ask/wrong", "", [2]string{}, 400},
		{"GET", right + "ask/panics", "", [2]string{}, 400},
		{"GET", right + "ask/echo?a=%", "", [2]string{}, 400},
		{"GET", right + "ask/changed?seen=x", "", [2]string{}, 200}, // echo is not live
	} {
		request := httptest.NewRequest(test.method, "http://"+s.host+right, nil)
		request.RequestURI, request.Host = "", s.host
		if u, err := url.Parse("http://" + s.host + test.path); err == nil {
			request.URL = u
		} else {
			t.Fatal(err)
		}
		if test.host != "" {
			request.Host = test.host
		}
		if test.header[0] != "" {
			request.Header.Set(test.header[0], test.header[1])
		}
		answer := httptest.NewRecorder()
		s.ServeHTTP(answer, request)
		if answer.Code != test.status {
			t.Errorf("%s %s %v, host %q: status %d, want %d", test.method, test.path, test.header, test.host, answer.Code, test.status)
		}
		for name, want := range map[string]string{
			"Content-Security-Policy": policy, "Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff",
		} {
			if got := answer.Header().Get(name); got != want {
				t.Errorf("%s %s: header %s is %q", test.method, test.path, name, got)
			}
		}
		if test.status >= 400 && strings.Contains(answer.Body.String(), s.token) {
			t.Errorf("%s %s: the refusal contains the token", test.method, test.path)
		}
	}
}

func TestAnswers(t *testing.T) {
	s := serve(t, growing{})
	for path, want := range map[string]string{
		"ask/page":           `{"kind":"frames","title":"</title><script>alert(1)</script>","version":"version","static":false,"live":true}`,
		"ask/echo?b=2&a=1":   `{"args":{"a":["1"],"b":["2"]}}`,
		"ask/wrong":          `{"error":"it is wrong"}`,
		"ask/nothing":        `{"error":"no such question"}`,
		"ask/panics":         `{"error":"internal error in \"panics\": for a test"}`,
		"ask/changed?seen=1": `{"seen":2,"ended":false}`,
		"ask/changed?seen=2": `{"seen":3,"ended":true}`,
	} {
		if _, got, header := get(t, s, path); got != want || header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: got %s (%s), want %s", path, got, header.Get("Content-Type"), want)
		}
	}
	for _, name := range []string{"", "app.js", "style.css", "vendor/uplot.js", "vendor/LICENSE-htm.txt"} {
		if status, body, _ := get(t, s, name); status != 200 || len(body) < 100 {
			t.Errorf("%q: status %d, %d bytes", name, status, len(body))
		}
	}
}

// TestTokens: no two servers have the same token, and it cannot be guessed.
func TestTokens(t *testing.T) {
	a, b := serve(t, echo{}), serve(t, echo{})
	if a.token == b.token || len(a.token) < 22 { // of 6 bits each
		t.Errorf("tokens %s and %s", a.token, b.token)
	}
}

// TestQuestionsEnd: a question whose page has gone, or whose server ends, ends.
func TestQuestionsEnd(t *testing.T) {
	s := serve(t, echo{})
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, "GET", s.URL()+"ask/waits", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := http.DefaultClient.Do(request); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the question has been answered: %v", err)
	}
	go http.Get(s.URL() + "ask/waits") // the end of the test ends it with the server
}

var inline = regexp.MustCompile(`(?s)<script type="application/json" id="answers">(.*?)</script>`)

// TestPageOfOneFile: it has all that it needs, and what is hostile in names stays text.
func TestPageOfOneFile(t *testing.T) {
	var page bytes.Buffer
	if err := WritePage(t.Context(), &page, echo{}, "version"); err != nil {
		t.Fatal(err)
	}
	text := page.String()
	found := inline.FindStringSubmatch(text)
	if found == nil {
		t.Fatal("there are no answers")
	}
	var answers map[string]json.RawMessage
	if err := json.Unmarshal([]byte(found[1]), &answers); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{
		"page":                               `"static":true`,
		"echo?a=1&b=%3C%2Fscript%3E%3C%21--": `\u003c/script>\u003c!--`,
		"wrong":                              `{"error":"it is wrong"}`,
	} {
		if got := string(answers[key]); !strings.Contains(got, want) {
			t.Errorf("%s: %s", key, got)
		}
	}
	if strings.Contains(text, "<script>alert") {
		t.Error("the title is not escaped")
	}
	for _, attribute := range regexp.MustCompile(`(?:src|href)="([^"]*)"`).FindAllStringSubmatch(text, -1) {
		if !strings.HasPrefix(attribute[1], "data:") {
			t.Errorf("the page fetches %q", attribute[1])
		}
	}
}

// ownModules are the modules of the page, without those of others.
func ownModules(t *testing.T) map[string]string {
	t.Helper()
	names, err := fs.Glob(assets, "assets/*.js")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	modules := make(map[string]string)
	for _, name := range names {
		content, err := assets.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		modules[path.Base(name)] = string(content)
	}
	return modules
}

// TestModules: imports have the form that a page of one file needs, nothing is fetched from elsewhere, and nothing that a trace
// contains becomes HTML or code.
func TestModules(t *testing.T) {
	for name, content := range ownModules(t) {
		for line := range strings.Lines(content) {
			line = strings.TrimSpace(line)
			if strings.HasPrefix(line, "import ") && !relativeImport.MatchString(line) {
				t.Errorf("%s: %s", name, line)
			}
			for _, word := range []string{"innerHTML", "outerHTML", "insertAdjacentHTML", "dangerouslySetInnerHTML", "document.write", "eval(",
				"new Function", "http:", "https:", "import("} {
				if strings.Contains(line, word) && !strings.Contains(line, "@") {
					t.Errorf("%s contains %s: %s", name, word, line)
				}
			}
		}
	}
}

// TestVendored compares the files of others with the checksums that they had when they were taken.
func TestVendored(t *testing.T) {
	list, err := os.ReadFile("assets/vendor/vendored.txt")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{"vendored.txt": true}
	for line := range strings.Lines(string(list)) {
		fields := strings.Fields(line)
		if len(fields) == 0 || fields[0] == "#" {
			continue
		}
		content, err := os.ReadFile("assets/vendor/" + fields[1])
		if err != nil {
			t.Error(err)
		}
		if sum := sha256.Sum256(content); hex.EncodeToString(sum[:]) != fields[0] {
			t.Errorf("%s is not the file of %s any more", fields[1], fields[2])
		}
		listed[fields[1]] = true
		for licence := range strings.SplitSeq(fields[4], ",") {
			if text, err := os.ReadFile("assets/vendor/" + licence); err != nil || len(text) < 500 {
				t.Errorf("%s: licence %s: %d bytes, %v", fields[1], licence, len(text), err)
			}
			listed[licence] = true
		}
	}
	entries, err := os.ReadDir("assets/vendor")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if name := entry.Name(); !listed[name] && !strings.HasSuffix(name, ".d.ts") {
			t.Errorf("vendored.txt does not list %s", name)
		}
	}
}

// TestSize: the page has to be small, since it is in the binary and in each page of one file.
func TestSize(t *testing.T) {
	var page bytes.Buffer
	if err := WritePage(t.Context(), &page, echo{}, ""); err != nil {
		t.Fatal(err)
	}
	const most = 400 << 10
	if page.Len() > most {
		t.Errorf("a page without data has %d bytes, more than %d", page.Len(), most)
	}
}
