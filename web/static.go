package web

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"html"
	"io"
	"io/fs"
	"path"
	"regexp"
	"strings"

	"tracewell/internal/jsontext"
	"tracewell/view/wire"
)

// filePolicy is the Content-Security-Policy of a page of one file. It may ask nobody for anything; its scripts and styles are the
// ones that it carries, inline ones by their hashes.
const filePolicy = "default-src 'none'; script-src data:%s; style-src%s; img-src data:; base-uri 'none'; form-action 'none'"

// relativeImport is how the modules of the page name one another (see the package comment).
var relativeImport = regexp.MustCompile(`(?m)^(import .*?from )"\./([\w/.-]+\.js)"`)

// bare is the name of a module in a page of one file. data: URLs have no folder that a relative name could mean.
const bare = `"tracewell/`

// WritePage writes the page as one file that needs no server, with the answers to the questions that the subject lists.
func WritePage(ctx context.Context, w io.Writer, subject Subject, version string) error {
	answers, err := staticAnswers(ctx, subject, version)
	if err != nil {
		return err
	}
	index, err := assets.ReadFile("assets/index.html")
	if err != nil {
		return err
	}
	imports, err := importMap()
	if err != nil {
		return err
	}
	page := string(index)
	var styles, scripts string // hashes
	for _, sheet := range []string{"vendor/uplot.css", "style.css", "executions.css"} {
		css, err := assets.ReadFile("assets/" + sheet)
		if err != nil {
			return err
		}
		page = replaceLine(page, `href="`+sheet+`"`, "<style>"+string(css)+"</style>")
		styles += hashSource(css)
	}
	plot, err := assets.ReadFile("assets/vendor/uplot.js")
	if err != nil {
		return err
	}
	page = replaceLine(page, `src="vendor/uplot.js"`, `<script src="`+dataURL(plot)+`"></script>`)
	start := []byte("import " + bare + `app.js"`)
	scripts = hashSource(imports) + hashSource(start)
	licences, err := licenceTexts()
	if err != nil {
		return err
	}
	// Neither data: URLs nor these answers contain what ends the element.
	page = replaceLine(page, `src="app.js"`, fmt.Sprintf(`<script type="importmap">%s</script>
<script type="application/json" id="answers">%s</script>
<script type="text/plain" id="licences">
%s</script>
<script type="module">%s</script>`, imports, answers, licences, start))
	page = strings.Replace(page, "<head>", `<head><meta http-equiv="Content-Security-Policy" content="`+
		fmt.Sprintf(filePolicy, scripts, styles)+`">`, 1)
	title := html.EscapeString(subject.Title()) + " – Tracewell"
	page = strings.Replace(page, "<title>Tracewell</title>", "<title>"+title+"</title>", 1)
	_, err = io.WriteString(w, page)
	return err
}

// replaceLine replaces the line of the page that contains a text.
func replaceLine(page, containing, by string) string {
	at := strings.Index(page, containing)
	start, end := strings.LastIndexByte(page[:at], '\n')+1, at+strings.IndexByte(page[at:], '\n')
	return page[:start] + by + page[end:]
}

// staticAnswers are the answers of a page of one file as a JSON object, by the keys of their questions.
func staticAnswers(ctx context.Context, subject Subject, version string) ([]byte, error) {
	page := wire.Page{Kind: subject.Kind(), Title: subject.Title(), Version: version, Static: true}
	object, err := jsontext.Append([]byte(`{"page":`), page)
	if err != nil {
		return nil, err
	}
	for _, question := range subject.Static() {
		answer, err := subject.Answer(ctx, question.Name, question.Args)
		if err != nil {
			if ctx.Err() != nil {
				return nil, err
			}
			answer = wire.PageError{Error: err.Error()}
		}
		object = append(jsontext.AppendString(append(object, ",\n"...), question.Key()), ':')
		if object, err = jsontext.Append(object, answer); err != nil {
			return nil, err
		}
	}
	// No < may begin a tag there.
	return bytes.ReplaceAll(append(object, '}'), []byte("<"), []byte(`\u003c`)), nil
}

// licenceTexts are the licences of what others made of the page: these want to be with every copy.
func licenceTexts() (string, error) {
	names, err := fs.Glob(assets, "assets/vendor/LICENSE-*.txt")
	var all strings.Builder
	for _, name := range names {
		content, err := assets.ReadFile(name)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&all, "%s\n\n%s\n", path.Base(name), strings.ReplaceAll(string(content), "<", "&lt;"))
	}
	return all.String(), err
}

// importMap maps the bare names of all modules to their content.
func importMap() ([]byte, error) {
	modules := map[string]map[string]string{"imports": {}}
	err := fs.WalkDir(assets, "assets", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || path.Ext(name) != ".js" || name == "assets/vendor/uplot.js" {
			return err
		}
		content, err := assets.ReadFile(name)
		if err != nil {
			return err
		}
		content = relativeImport.ReplaceAll(content, []byte(`${1}`+bare+`${2}"`))
		modules["imports"]["tracewell/"+strings.TrimPrefix(name, "assets/")] = dataURL(content)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return jsontext.Append(nil, modules)
}

// hashSource is how a policy allows an inline element of that content.
func hashSource(content []byte) string {
	sum := sha256.Sum256(content)
	return " 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

func dataURL(script []byte) string {
	return "data:text/javascript;base64," + base64.StdEncoding.EncodeToString(script)
}
