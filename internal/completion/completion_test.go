package completion

import (
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// commandLine has an option and an operand of each kind.
type commandLine struct {
	Look struct {
		File   string   `arg:""`
		Others []string `arg:"" optional:""`
		Count  bool     `short:"c" help:"Count them. And more."`
		Order  string   `enum:"big,little" default:"big" help:"The order: of bytes."`
		Names  []string `short:"n" complete:"names"`
		Out    string   `placeholder:"FILE"`
		Number int      `placeholder:"N"`
		Secret bool     `hidden:""`
	} `cmd:"" help:"Look at a file."`
	Launch struct {
		Program []string `arg:"" passthrough:"partial" optional:""`
		At      string   `complete:"names"`
	} `cmd:""`
	Deep struct {
		One struct{} `cmd:""`
		Two struct{} `cmd:""`
	} `cmd:""`
	Hidden struct{} `cmd:"" hidden:""`
}

// TestComplete: the cursor is at the bar, which is no part of the word.
func TestComplete(t *testing.T) {
	var c commandLine
	parser := kong.Must(&c, kong.Name("prog"))
	kinds := map[string]Values{"names": func(line *Line, _ string) []Candidate {
		return []Candidate{{"anna", strings.Join(line.Operands, "+")}, {"bert", ""}}
	}}
	for line, want := range map[string]string{
		"|":                          "look launch deep",
		"l|":                         "look launch",
		"x|":                         "",
		"deep |":                     "one two",
		"deep t|":                    "two",
		"deep one |":                 "",
		"look |":                     "FILES",
		"look f |":                   "FILES",
		"look f g h |":               "FILES",
		"look --|":                   "--help --count --order --names --out --number",
		"look --o|":                  "--order --out",
		"look -|":                    "--help --count --order --names --out --number",
		"look --order |":             "big little",
		"look --order=l|":            "--order=little",
		"look --order=big |":         "FILES",
		"look --count |":             "FILES",
		"look -c |":                  "FILES",
		"look -n |":                  "anna bert",
		"look --names=b|":            "--names=bert",
		"look --names b| f":          "bert",
		"look --out |":               "FILES",
		"look --out=x|":              "FILES",
		"look --number |":            "",
		"look --nonsense=|":          "",
		"look --nonsense |":          "FILES",
		"look -- --c|":               "FILES",
		"look -- -c |":               "FILES",
		"launch --a|":                "--at",
		"launch prog --a|":           "FILES",
		"launch --at |":              "anna bert",
		"launch --at a| -- prog x":   "anna",
		"launch --at |x -- prog --y": "",
		"--h|":                       "--help",
	} {
		words := strings.Split(line, " ")
		cursor := 0
		for i, word := range words {
			if before, after, here := strings.Cut(word, "|"); here {
				cursor, words[i] = i, before+after
			}
		}
		result := Complete(parser.Model, kinds, words, cursor)
		var got []string
		for _, c := range result.Candidates {
			got = append(got, c.Word)
		}
		if result.Files {
			got = append(got, "FILES")
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

// TestLine: values see the whole line, what is behind the cursor included.
func TestLine(t *testing.T) {
	var c commandLine
	parser := kong.Must(&c, kong.Name("prog"))
	var seen Line
	kinds := map[string]Values{"names": func(line *Line, beginning string) []Candidate {
		seen = *line
		return []Candidate{{Word: beginning + "!"}}
	}}
	result := Complete(parser.Model, kinds, strings.Fields("look --out o -n x --number=3 file -- --more"), 4)
	if len(result.Candidates) != 1 || result.Candidates[0].Word != "x!" {
		t.Errorf("%+v", result)
	}
	if seen.Command.Name != "look" || strings.Join(seen.Operands, " ") != "file --more" ||
		seen.Options["out"][0] != "o" || seen.Options["number"][0] != "3" || seen.Options["names"] != nil {
		t.Errorf("%+v", seen)
	}
}

// TestAnswer is what scripts read.
func TestAnswer(t *testing.T) {
	var c commandLine
	parser := kong.Must(&c, kong.Name("prog"))
	kinds := map[string]Values{"names": func(*Line, string) []Candidate {
		return []Candidate{{"a b", "two\nlines"}, {"not\tpossible", ""}}
	}}
	for question, want := range map[string]string{
		"0 loo":          "look\tLook at a file\n",
		"1 look --c":     "--count\tCount them\n",
		"1 look --or":    "--order\tThe order\n",
		"1 look ":        "\t\n",
		"2 look -n ":     "a b\ttwo lines\n",
		"7 look":         "",
		"-1 look":        "",
		"x look":         "",
		"":               "",
		"1":              "",
		"2 look --names": "",
	} {
		var out strings.Builder
		Answer(&out, parser.Model, kinds, strings.Split(question, " "))
		if out.String() != want {
			t.Errorf("%q: %q, want %q", question, out.String(), want)
		}
	}
}

// TestWriteScript: the scripts name the program, and there is none for other shells.
func TestWriteScript(t *testing.T) {
	for _, shell := range Shells {
		var out strings.Builder
		if err := WriteScript(&out, shell, "someprogram"); err != nil || !strings.Contains(out.String(), "someprogram") || strings.Contains(out.String(), "{{") {
			t.Errorf("%s: %v, %s", shell, err, out.String())
		}
	}
	if err := WriteScript(&strings.Builder{}, "csh", "prog"); err == nil || !strings.Contains(err.Error(), "bash, zsh, fish") {
		t.Errorf("csh: %v", err)
	}
}
