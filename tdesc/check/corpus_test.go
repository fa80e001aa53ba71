package check

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tracewell/tdesc"
)

// corpus is the documents of testdata/corpus by name. One that is named RULE or RULE--VARIANT breaks that rule, and one named
// good-… none.
func corpus(t *testing.T) map[string][]byte {
	t.Helper()
	paths, err := filepath.Glob("testdata/corpus/*.xml")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no documents: %v", err)
	}
	docs := make(map[string][]byte)
	for _, path := range paths {
		doc, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		docs[strings.TrimSuffix(filepath.Base(path), ".xml")] = doc
	}
	return docs
}

// elsewhere are the rules whose breach takes more than one document, or a large one.
var elsewhere = []string{"include", "include-cycle", "include-depth", "include-count", "too-large", "subset-dropped"}

func TestCorpusHasEachRule(t *testing.T) {
	docs := corpus(t)
	seen := make(map[string]bool)
	for _, r := range Rules() {
		if _, ok := docs[r.Name]; !ok && !slices.Contains(elsewhere, r.Name) {
			t.Errorf("no document breaks the rule %s", r.Name)
		}
		if seen[r.Name] || r.Advice == "" {
			t.Errorf("the rule %s is there twice, or gives no advice", r.Name)
		}
		seen[r.Name] = true
	}
}

// inevitable is what goes with the breach of a rule: the two features have registers in common, and an entity of unknown text is
// one that is declared by what is not read.
var inevitable = map[string]string{"standard-feature-excludes": "register-name-twice", "xml-unsupported": "internal-subset"}

func TestCorpusBreaksTheRules(t *testing.T) {
	for name, doc := range corpus(t) {
		report := Document(doc, tdesc.Options{})
		rule, _, _ := strings.Cut(name, "--")
		if strings.HasPrefix(name, "good-") {
			if report.Verdict != WellFormed {
				t.Errorf("%s: %s: %v", name, report.Verdict, report.Findings)
			}
			continue
		}
		if len(report.Findings) == 0 {
			t.Errorf("%s: nothing is found", name)
		}
		for _, f := range report.Findings {
			if f.Rule.Name != rule && f.Rule.Name != inevitable[name] {
				t.Errorf("%s: %v [%s]", name, f, f.Rule.Name)
			}
		}
	}
}

// TestXmllintAgrees compares what is said to be invalid with what the document type definition of the corpus makes of it.
func TestXmllintAgrees(t *testing.T) {
	xmllint, err := exec.LookPath("xmllint")
	if err != nil {
		t.Fatalf("this test needs xmllint, which make test installs: %v", err)
	}
	for name, doc := range corpus(t) {
		invalid := slices.ContainsFunc(Document(doc, tdesc.Options{}).Findings, func(f tdesc.Finding) bool { return f.Rule.Invalid })
		cmd := exec.CommandContext(t.Context(), xmllint, "--noout", "--nonet", "--valid", name+".xml")
		cmd.Dir = "testdata/corpus"
		output, err := cmd.CombinedOutput()
		if (err != nil) != invalid {
			t.Errorf("%s: we say it is invalid: %v; xmllint: %v\n%s", name, invalid, err, output)
		}
	}
}

// TestGDBAgreesOnTheCorpus has GDB judge each document: it is to complain about what it is said to reject, and not to
// survive what is said to crash it.
func TestGDBAgreesOnTheCorpus(t *testing.T) {
	var trials []trial
	for name, doc := range corpus(t) {
		switch report := Document(doc, tdesc.Options{}); report.Worst() {
		case tdesc.Crashes:
			t.Run(name, func(t *testing.T) { crash(t, name) })
		case tdesc.Rejects:
			trials = append(trials, trial{name, string(doc), false})
		default:
			trials = append(trials, trial{name, string(doc), true})
		}
	}
	judge(t, trials)
}

func crash(t *testing.T, name string) {
	gdb := multiarch(t)
	cmd := exec.CommandContext(t.Context(), gdb, "-nx", "-nh", "-batch",
		"-ex", "maintenance set internal-error corefile no", "-ex", "maintenance set internal-error quit yes",
		"-ex", "maintenance set internal-error backtrace off",
		"-ex", "set tdesc filename testdata/corpus/"+name+".xml", "-ex", "echo alive\\n")
	output, _ := cmd.CombinedOutput()
	if strings.Contains(string(output), "alive") {
		t.Errorf("GDB lives:\n%s", output)
	}
}
