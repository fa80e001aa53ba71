package check

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tracewell/internal/test/testtool"
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

// elsewhere are the rules whose breach takes more than one document, a large one, or reading by the manual.
var elsewhere = []string{"include", "include-cycle", "include-depth", "include-count", "too-large", "subset-dropped", "flags-field-wide"}

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
	xmllint := testtool.Path(t, "xmllint")
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
		switch report := Document(doc, tdesc.Options{}); {
		case slices.Contains(unbuilt, report.Target.Architecture):
		case report.Worst() == tdesc.Crashes:
			t.Run(name, func(t *testing.T) { crash(t, name) })
		default:
			trials = append(trials, trial{name, string(doc), report.Worst() < tdesc.Rejects})
		}
	}
	judge(t, trials)
}

// unbuilt are the architectures in the corpus that Debian's GDB is built without. What is said of them is by GDB's source.
var unbuilt = []string{"arc700", "HS", "nios2"}

// TestManual reads by the manual.
func TestManual(t *testing.T) {
	doc := []byte(`<target><feature name="f"><flags id="t" size="4"><field name="a" start="0" end="0"/>
<field name="b" start="1" end="4"/></flags><reg name="r" bitsize="32" type="t"/></feature></target>`)
	found := func(source tdesc.Source) string {
		for _, f := range Document(doc, tdesc.Options{Source: source}).Findings {
			if f.Rule.Name == "flags-field-wide" {
				return f.String()
			}
		}
		return ""
	}
	if got := found(tdesc.ByGDB); got != "" {
		t.Errorf("by GDB: %s", got)
	}
	if got := found(tdesc.ByManual); got != `2:1: bit field "b" of flags has more than one bit` {
		t.Errorf("by the manual: %s", got)
	}
}

// TestUnreadableType has one finding for a type that could not be read, and goes on with what does not depend on it.
func TestUnreadableType(t *testing.T) {
	doc := `<target><architecture>avr</architecture><feature name="f"><vector id="v" type="int8"/>
<struct id="s"><field name="a" type="v"/></struct><reg name="r" bitsize="8" type="v"/><reg name="q" bitsize="8" type="s"/>
<reg name="p" bitsize="8" type="int16"/></feature></target>`
	report := Document([]byte(doc), tdesc.Options{})
	var got []string
	for _, f := range report.Findings {
		got = append(got, f.Rule.Name)
	}
	if want := []string{"missing-attribute", "size-mismatch"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", report.Findings, want)
	}
}

// TestDroppedDeclarations includes a document with a document type of its own.
func TestDroppedDeclarations(t *testing.T) {
	include := func(string) ([]byte, error) {
		return []byte(`<!DOCTYPE osabi [<!ENTITY a "none">]><osabi>none</osabi>`), nil
	}
	report := Document([]byte(`<target><xi:include href="a"/></target>`), tdesc.Options{Include: include})
	if len(report.Findings) != 1 || report.Findings[0].Rule.Name != "subset-dropped" {
		t.Errorf("found %v", report.Findings)
	}
}

func crash(t *testing.T, name string) {
	cmd := exec.CommandContext(t.Context(), testtool.Path(t, "gdb-multiarch"), "-nx", "-nh", "-batch",
		"-ex", "maintenance set internal-error corefile no", "-ex", "maintenance set internal-error quit yes",
		"-ex", "maintenance set internal-error backtrace off",
		"-ex", "set tdesc filename testdata/corpus/"+name+".xml", "-ex", "echo alive\\n")
	output, _ := cmd.CombinedOutput()
	if strings.Contains(string(output), "alive") {
		t.Errorf("GDB lives:\n%s", output)
	}
}
