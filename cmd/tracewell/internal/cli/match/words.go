package match

import "strings"

// singleDash are the options of Trace Matcher with one dash and the long names that they stand for. Those of several letters
// are no bundles of options of one letter.
var singleDash = map[string]string{
	"-w": "window-size", "-fds": "first-dif-stop", "-bs": "boot-size", "-sa": "start-addr", "-se": "skip-equal",
	"-sr": "skip-rest", "-d": "debug",
}

// defaultWindow is the window without --window-size, and of --window-size without a number.
const defaultWindow = "1"

// Words rewrites a command line of match that is written for Trace Matcher into one that kong understands: options of one dash,
// values behind an equals sign, long options cut short as far as that leaves them unique, and --window-size without a number at
// the end or in front of another option.
func Words(args []string) []string {
	if len(args) == 0 || args[0] != "match" {
		return args
	}
	words := []string{args[0]}
	for i, word := range args[1:] {
		if word == "--" {
			return append(words, args[1+i:]...)
		}
		// -w in front of a file takes the name of that for its number, and the error tells so (windowSize). A dash alone is a file.
		long := matchWord(word)
		if next := args[1+i:][1:]; long == "--window-size" && (len(next) == 0 || len(next[0]) > 1 && next[0][0] == '-') {
			long += "=" + defaultWindow
		}
		words = append(words, long)
	}
	return words
}

// matchWord rewrites one word. A value behind an equals sign is kept; a word that is no option of Trace Matcher is returned as it
// is.
func matchWord(word string) string {
	name, value, valued := strings.Cut(word, "=")
	long, ok := singleDash[name]
	if !ok {
		long, ok = completed(name)
	}
	// An option of tracewell's own, an operand and a value that looks like neither are all left to kong.
	switch {
	case !ok:
		return word
	case valued:
		return "--" + long + "=" + value
	}
	return "--" + long
}

// completed returns the option of Trace Matcher of which a word is an unambiguous abbreviation, as its parser of options
// accepted. Options that Trace Matcher does not have must be written in full.
func completed(word string) (long string, ok bool) {
	beginning, ok := strings.CutPrefix(word, "--")
	if !ok || beginning == "" {
		return "", false
	}
	// The order of a map does not matter: a second match makes the word ambiguous, whichever came first.
	for _, name := range singleDash {
		if strings.HasPrefix(name, beginning) {
			if long != "" {
				return "", false
			}
			long = name
		}
	}
	return long, long != ""
}
