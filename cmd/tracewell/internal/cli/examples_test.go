//go:build linux && amd64

package cli

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"tracewell/cmd/tracewell/internal/cli/clitest"
	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/cmd/tracewell/internal/cli/flags"
	"tracewell/cmd/tracewell/internal/cli/match"
	"tracewell/cmd/tracewell/internal/cli/record"
	"tracewell/internal/test/gdbtest"
	"tracewell/internal/test/testtool"
)

// exampleLines are the command lines of the examples of a command.
func exampleLines(e flags.Exampler) []string {
	var lines []string
	for line := range strings.Lines(e.Examples()) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// TestExamplesParse: the command line of every example in every --help is one that the command takes.
func TestExamplesParse(t *testing.T) {
	parser := func() *kong.Kong {
		p, err := kong.New(&commands{}, append(parserOptions(console.Streams{}), kong.Writers(io.Discard, io.Discard))...)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	examples := 0
	var walk func(node *kong.Node)
	walk = func(node *kong.Node) {
		for _, child := range node.Children {
			walk(child)
		}
		e, ok := node.Target.Addr().Interface().(flags.Exampler)
		if !ok {
			return
		}
		for _, line := range exampleLines(e) {
			_, own, found := strings.Cut(line, "tracewell ")
			if !found {
				continue // a command that goes with the one before
			}
			args, ok := shellWords(t, own)
			if !ok {
				continue
			}
			examples++
			p := parser()
			if _, err := p.Parse(flags.OperandsLast(p.Model, flags.JoinNegatives(p.Model, match.Words(args)))); err != nil {
				t.Errorf("%s: %v", line, err)
			}
		}
	}
	walk(parser().Model.Node)
	if examples < 30 {
		t.Errorf("there are %d examples", examples)
	}
}

// shellWords are the words of a command up to the end of it, as a shell splits them; false for what is no command by itself.
func shellWords(t *testing.T, command string) ([]string, bool) {
	t.Helper()
	command = regexp.MustCompile(`\s[|&<>].*`).ReplaceAllString(command, "")
	out, err := testtool.Command(t, "bash", "-c", "set -f; printf '%s\\0' "+command).Output()
	if err != nil || len(out) == 0 {
		return nil, false
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"), true
}

// exampleServer is the program of the examples of record: it pushes each number from 1 to 1000 and pops it again, and does so for ever
// with the argument forever. Line 88 is in push.
const exampleServer = `
#include <stdio.h>
#include <string.h>
#include <unistd.h>
struct queue { int head, length; };
int buf[16];
void queue_clear(struct queue *q) { memset(q, 0, sizeof *q); }
#line 80 "queue.c"
void push(struct queue *q, int n)
{
    int slot = n % 16;
    buf[slot] = n;
    if (n == 0)
        return;


    q->head = slot; /* line 88 */
    q->length++;
}
int pop(struct queue *q)
{
    q->length--;
    return buf[q->head];
}
int main(int argc, char **argv)
{
    struct queue q;
    long sum = 0;
    queue_clear(&q);
    int forever = argc > 1 && strcmp(argv[1], "forever") == 0;
    do {
        for (int n = 1; n <= 1000; n++) {
            push(&q, n);
            sum += pop(&q);
        }
        if (forever)
            usleep(1000);
    } while (forever);
    printf("served %s: %ld\n", argc > 2 ? argv[2] : "nobody", sum);
    return 0;
}
`

// claim is what an example of record promises, beside its text.
type claim struct {
	edit  func(line string) string // what the test changes in it, nil for nothing
	check func(t *testing.T, printed, folder string)
}

// frames have the numbers of a column of n, one for each frame of a trace file.
func framesOf(t *testing.T, folder, file, value string) []int {
	t.Helper()
	shown := clitest.Run(t, "show", filepath.Join(folder, file), "--exec", filepath.Join(folder, "server"), "--json")
	var numbers []int
	for _, m := range regexp.MustCompile(`"`+regexp.QuoteMeta(value)+`":(-?\d+)`).FindAllStringSubmatch(shown.Stdout, -1) {
		n, _ := strconv.Atoi(m[1])
		numbers = append(numbers, n)
	}
	return numbers
}

// numbers are those from 1 to 1000 that are wanted.
func numbers(wanted func(n int) bool) (all []int) {
	for n := 1; n <= 1000; n++ {
		if wanted(n) {
			all = append(all, n)
		}
	}
	return all
}

func every(int) bool { return true }

// recordClaims are the examples of record.
func recordClaims(pid int) map[string]claim {
	same := func(t *testing.T, what string, got, want []int) {
		t.Helper()
		if !slices.Equal(got, want) {
			t.Errorf("%s: %d frames, want %d: %.200v", what, len(got), len(want), fmt.Sprint(got))
		}
	}
	return map[string]claim{
		`--at push --collect '$args' -- ./server --port 80`: {check: func(t *testing.T, printed, folder string) {
			same(t, "every call", framesOf(t, folder, "server.tf", "n"), numbers(every))
			if !strings.Contains(printed, "served 80: 500500") {
				t.Error("the program has not got its arguments")
			}
		}},
		`--at push --collect '$args' --print -- ./server`: {check: func(t *testing.T, printed, folder string) {
			if n := len(regexp.MustCompile(`(?m)^[\d:.]+ push q = 0x[0-9a-f]+, n = \d+$`).FindAllString(printed, -1)); n != 1000 {
				t.Errorf("%d lines", n)
			}
		}},
		`--at 'queue.c:88' --collect '*q, buf[0]@16' --if 'n > 3 && q->head != 0' -o run.tf -- ./server`: {check: func(t *testing.T, printed, folder string) {
			// The head is the slot of the number before.
			want := numbers(func(n int) bool { return n > 3 && (n-1)%16 != 0 })
			got := framesOf(t, folder, "run.tf", "head")
			for i := range want {
				want[i] = (want[i] - 1) % 16
			}
			same(t, "those that the condition holds for", got, want)
		}},
		`--at push --at pop --collect '$regs' --pid 1234 --duration 10s`: {
			edit: func(line string) string {
				return strings.NewReplacer("1234", strconv.Itoa(pid), "10s", "1s").Replace(line) + " -o attached.tf"
			},
			check: func(t *testing.T, printed, folder string) {
				if pushes, pops := framesOf(t, folder, "attached.tf", "tracepoint"), 0; len(pushes) < 2 {
					t.Errorf("%d frames:\n%s", len(pushes), printed)
				} else if pops = len(pushes) - len(slices.DeleteFunc(pushes, func(n int) bool { return n == 2 })); pops == 0 {
					t.Error("no pop")
				}
				if !strings.Contains(printed, "attached.tf: the time is up") {
					t.Errorf("it printed %s", printed)
				}
			},
		},
		`--at push --collect n --print --comm server --follow`: {
			// By a name that no other process of this machine has, whether it runs already or is waited for.
			edit: func(line string) string {
				name := fmt.Sprintf("peer-%d", pid)
				line = strings.Replace(line, "--comm server", "--comm "+name, 1) + " --frames 5"
				return fmt.Sprintf("cp server %s; ./%[1]s forever & %s; status=$?; kill $!; exit $status", name, line)
			},
			check: func(t *testing.T, printed, _ string) {
				if lines := regexp.MustCompile(`(?m)^\d\S+ push n = \d+$`).FindAllString(printed, -1); len(lines) != 5 {
					t.Errorf("it printed %s", printed)
				}
			},
		},
		`--at push --count-by 'n % 3' --sum n -- ./server`: {check: func(t *testing.T, printed, _ string) {
			for key := range 3 {
				hits, sum := 0, 0
				for _, n := range numbers(func(n int) bool { return n%3 == key }) {
					hits, sum = hits+1, sum+n
				}
				if !regexp.MustCompile(fmt.Sprintf(`(?m)^%d +%d +[\d.]+ +[\d.]+ +%d  █`, key, hits, sum)).MatchString(printed) {
					t.Errorf("key %d should have %d hits and the sum %d:\n%s", key, hits, sum, printed)
				}
			}
			if !strings.Contains(printed, " 1000 hits, ") || strings.Contains(printed, ".tf") {
				t.Errorf("it printed %s", printed)
			}
		}},
		`--at push --stacks -- ./server`: {check: func(t *testing.T, printed, _ string) {
			if !strings.Contains(printed, "\n1000 frames, 1 different stack\n") || !strings.Contains(printed, "1000  100.0 %  push (") {
				t.Errorf("it printed %s", printed)
			}
		}},
		`--at push --tvariable '$calls' --if '($calls = $calls + 1) % 100 == 0' --backtrace -- ./server`: {
			edit: func(line string) string {
				return strings.Replace(line, " -- ", " --collect n,'$calls' -o hundredth.tf -- ", 1)
			},
			check: func(t *testing.T, printed, folder string) {
				want := numbers(func(n int) bool { return n%100 == 0 })
				same(t, "each hundredth", framesOf(t, folder, "hundredth.tf", "n"), want)
				same(t, "their numbers", framesOf(t, folder, "hundredth.tf", "calls"), want)
				out := gdbtest.Run(t, filepath.Join(folder, "server"), "target tfile "+filepath.Join(folder, "hundredth.tf")+"\n-- trace --\ntfind 3\nbacktrace\n")
				if trace := out.Section(t, "trace"); !strings.Contains(trace, "in main (") {
					t.Errorf("GDB's backtrace is\n%s", trace)
				}
				shown := clitest.Run(t, "show", filepath.Join(folder, "hundredth.tf"), "--frame", "3")
				if !regexp.MustCompile(`\nBacktrace\n#0  0x[0-9a-f]+ in push \(.*:82\)\n(#.*\n)*#\d+ +0x[0-9a-f]+ in main \(`).MatchString(shown.Stdout) {
					t.Errorf("it shows\n%s", shown.Stdout)
				}
			},
		},
		`--at push --collect n --format '{time} {function}:{line} n={n}' -- ./server`: {check: func(t *testing.T, printed, folder string) {
			if n := len(regexp.MustCompile(`(?m)^[\d:.]+ push:82 n=\d+$`).FindAllString(printed, -1)); n != 1000 {
				t.Errorf("%d lines", n)
			}
		}},
		`--at push --collect '$args' --view -- ./server`: {
			// The page is there until a signal; that of Ctrl-C is ignored by what a shell starts in the background.
			edit: func(line string) string {
				line = strings.Replace(line, " -- ", " -o viewed.tf -- ", 1)
				return line + ` 2>view.log & page=$!; until grep -q Ctrl-C view.log; do kill -0 $page || break; sleep .1; done
					kill $page; wait $page; status=$?; cat view.log; exit $status`
			},
			check: func(t *testing.T, printed, folder string) {
				same(t, "every call", framesOf(t, folder, "viewed.tf", "n"), numbers(every))
				if !regexp.MustCompile(`(?m)^http://127\.0\.0\.1:\d+/[\w-]{24}/$`).MatchString(printed) {
					t.Errorf("it printed no address: %s", printed)
				}
			},
		},
		`--script points.gdb -- ./server`: {check: func(t *testing.T, printed, folder string) {
			if !regexp.MustCompile(`\n1 frame, \d+ B, in server.*\.tf: `).MatchString(printed) {
				t.Errorf("it printed %s", printed)
			}
		}},
		`--list 'queue*' ./server`: {check: func(t *testing.T, printed, folder string) {
			if !strings.Contains(printed, "queue_clear") || strings.Contains(printed, "push") {
				t.Errorf("it printed %s", printed)
			}
		}},
		`--at push --collect '*q' --dry-run -- ./server`: {check: func(t *testing.T, printed, folder string) {
			if !strings.Contains(printed, "place       0x") || !regexp.MustCompile(`frame       \d+ bytes`).MatchString(printed) || strings.Contains(printed, "served") {
				t.Errorf("it printed %s", printed)
			}
		}},
	}
}

// TestRecordExamples runs the examples of "record --help" and holds what comes of each against what the help says of it.
func TestRecordExamples(t *testing.T) {
	folder := t.TempDir()
	compile := testtool.Command(t, "gcc", "-g", "-O0", "-no-pie", "-o", "server", "queue.c")
	compile.Dir = folder
	for name, text := range map[string]string{
		"queue.c": exampleServer, "points.gdb": "trace push if n == 7\nactions\ncollect *q\nend\n",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := compile.CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	if err := os.Symlink(gdbtest.Binary(t), filepath.Join(folder, "tracewell")); err != nil {
		t.Fatal(err)
	}
	running := exec.Command(filepath.Join(folder, "server"), "forever")
	if err := running.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		running.Process.Kill()
		running.Wait()
	}()
	claims := recordClaims(running.Process.Pid)
	for _, line := range exampleLines(&record.Command{}) {
		command, _, _ := strings.Cut(line, "  #")
		command = strings.TrimSpace(command)
		rest, isRecord := strings.CutPrefix(command, "tracewell record ")
		if !isRecord { // the one that shows what was recorded
			rest = command
			claims[rest] = claim{check: func(t *testing.T, printed, _ string) {
				if strings.Count(printed, "<push+") != 1000 {
					t.Errorf("it printed %.1000s", printed)
				}
			}}
		}
		c, known := claims[rest]
		if !known {
			t.Errorf("nobody checks what comes of %s", command)
			continue
		}
		delete(claims, rest)
		t.Run(rest, func(t *testing.T) {
			if c.edit != nil {
				command = c.edit(command)
			}
			shell := testtool.Command(t, "bash", "-c", command)
			shell.Dir = folder
			shell.Env = append(os.Environ(), "PATH="+folder+":"+os.Getenv("PATH"))
			var printed bytes.Buffer
			shell.Stdout, shell.Stderr = &printed, &printed
			if err := shell.Run(); err != nil {
				t.Errorf("%v\n%s", err, &printed)
			}
			c.check(t, printed.String(), folder)
		})
	}
	for rest := range claims {
		t.Errorf("there is no such example: %s", rest)
	}
}
