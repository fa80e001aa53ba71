package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"tracewell/itrace/match"
)

// The elements of a JUnit report as GitLab, GitHub's actions and Jenkins read them. There is no standard; these are what
// https://github.com/testmoapp/junitxml describes as common.
type (
	junitSuites struct {
		XMLName xml.Name `xml:"testsuites"`
		junitCounts
		Suite junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name string `xml:"name,attr"`
		junitCounts
		Cases []junitCase `xml:"testcase"`
	}
	junitCounts struct {
		Tests    int    `xml:"tests,attr"`
		Failures int    `xml:"failures,attr"`
		Errors   int    `xml:"errors,attr"`
		Skipped  int    `xml:"skipped,attr"`
		Time     string `xml:"time,attr"` // in seconds
	}
	junitCase struct {
		ClassName string       `xml:"classname,attr"`
		Name      string       `xml:"name,attr"`
		Time      string       `xml:"time,attr"`
		Failure   *junitResult `xml:"failure"`
		Error     *junitResult `xml:"error"`
		Output    *junitOutput `xml:"system-out"`
	}
	junitOutput struct {
		Text string `xml:",cdata"`
	}
	junitResult struct {
		Type    string `xml:"type,attr"`
		Message string `xml:"message,attr"`
		Text    string `xml:",cdata"`
	}
)

// junitClass is the class of all cases, in whose place other tests have that of a programming language.
const junitClass = "tracewell.match"

// JUnit writes cases as a JUnit report: a suite with a test case each. Traces that differ are a failure of the class of the
// first difference, those that could not be compared an error; either has the text for people in it, and those that are equal
// have it as output, as it tells what was compared.
//
// Errors are those of the writer.
func JUnit(w io.Writer, cases []Case) error {
	suite := junitSuite{Name: "tracewell match", Cases: make([]junitCase, 0, len(cases))}
	var total float64
	for _, c := range cases {
		r := c.report()
		total += seconds(r)
		suite.Tests++
		j := junitCase{ClassName: junitClass, Name: printable(c.name(), nameWidth), Time: junitTime(seconds(r))}
		var text strings.Builder
		if err := Text(&text, r, Style{Dialects: c.Dialects}); err != nil {
			return err
		}
		switch result := (&junitResult{Message: Headline(r), Text: text.String()}); r.Verdict {
		case match.Equal:
			j.Output = &junitOutput{text.String()}
		case match.Different:
			suite.Failures++
			result.Type, j.Failure = failureType(r), result
		default:
			suite.Errors++
			result.Type, j.Error = string(match.Failed), result
		}
		suite.Cases = append(suite.Cases, j)
	}
	suite.Time = junitTime(total)
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	encoder := xml.NewEncoder(w)
	encoder.Indent("", "  ")
	if err := encoder.Encode(junitSuites{junitCounts: suite.junitCounts, Suite: suite}); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// failureType is the class of the first difference.
func failureType(r *match.Report) string {
	if len(r.Differences) == 0 {
		return string(match.Different)
	}
	return printable(string(r.Differences[0].Class), nameWidth)
}

func junitTime(seconds float64) string { return fmt.Sprintf("%.3f", seconds) }
