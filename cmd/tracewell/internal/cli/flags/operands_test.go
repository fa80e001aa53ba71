package flags

import (
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

func TestOperandsLast(t *testing.T) {
	var c struct {
		Many struct {
			Files []string `arg:""`
			All   bool     `short:"a"`
			Name  string   `short:"n"`
		} `cmd:""`
		One struct {
			File string `arg:""`
		} `cmd:""`
		Through struct {
			Words []string `arg:"" passthrough:""`
		} `cmd:""`
	}
	parser, err := kong.New(&c)
	if err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		"":                             "",
		"--help":                       "--help",
		"many":                         "many",
		"many a b":                     "many a b",
		"many a --name n b":            "many --name n a b",
		"many a --name=n b":            "many --name=n a b",
		"many a -n n - -a b --all":     "many -n n -a --all a - b",
		"many a -nn b":                 "many -nn a b",
		"many a --unknown b":           "many --unknown a b",
		"many a -a -- b --name n -- c": "many -a -- a b --name n -- c",
		"many a --name":                "many --name a",
		"one a --name b":               "one a --name b",
		"through a --name b":           "through a --name b",
		"unknown a --name b":           "unknown a --name b",
	} {
		if got := strings.Join(OperandsLast(parser.Model, strings.Fields(args)), " "); got != want {
			t.Errorf("%q: got %q, want %q", args, got, want)
		}
	}
}
