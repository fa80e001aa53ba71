package record

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tracewell/cmd/tracewell/internal/cli/clitest"
	"tracewell/internal/test/testtool"
)

// pick is one of some texts.
func pick(r *rand.Rand, texts ...string) string { return texts[r.IntN(len(texts))] }

// some is several of some texts, joined as flags are.
func some(r *rand.Rand, texts ...string) string {
	chosen := []string{"0"}
	for _, text := range texts {
		if r.IntN(3) == 0 {
			chosen = append(chosen, text)
		}
	}
	return strings.Join(chosen, "|")
}

// generatedCalls is the body of a program that makes random system calls with arguments of which nothing differs between runs.
func generatedCalls(r *rand.Rand, n int) string {
	path := func() string {
		return pick(r, `"a"`, `"b"`, `"dir"`, `"dir/x"`, `"none/x"`, `"q\"u\tote\n"`, `"\303\251"`, `""`)
	}
	fd := func() string { return fmt.Sprint(3 + r.IntN(6)) }
	mode := func() string { return pick(r, "0", "07", "0644", "0755", "0600", "01777") }
	size := func() string { return fmt.Sprint(r.IntN(60)) }
	at := func() string { return pick(r, "AT_FDCWD", "AT_FDCWD", "-1", fd()) }
	address := func() string {
		return pick(r, "&local, 5", "&local, sizeof local", "&four, sizeof four", "&six, sizeof six", "&four, 3", "0, 0")
	}
	calls := []func() string{
		func() string {
			return "openat, " + at() + ", " + path() + ", " + pick(r, "O_RDONLY", "O_WRONLY", "O_RDWR", "O_RDWR|O_CREAT") + "|" +
				some(r, "O_EXCL", "O_TRUNC", "O_APPEND", "O_CLOEXEC", "O_NONBLOCK", "O_NOFOLLOW") + ", " + mode()
		},
		func() string {
			return "open, " + path() + ", O_RDWR|O_CREAT|" + some(r, "O_SYNC", "O_DSYNC", "O_TRUNC") + ", " + mode()
		},
		func() string { return "write, " + fd() + ", bytes+" + size() + ", " + size() },
		func() string { return "read, " + fd() + ", buffer, " + size() },
		func() string { return "pread64, " + fd() + ", buffer, " + size() + ", " + size() },
		func() string {
			return "lseek, " + fd() + ", " + size() + ", " + pick(r, "SEEK_SET", "SEEK_CUR", "SEEK_END")
		},
		func() string { return "close, " + fd() },
		func() string {
			return "newfstatat, " + at() + ", " + path() + ", buffer, " + some(r, "AT_SYMLINK_NOFOLLOW", "AT_EMPTY_PATH")
		},
		func() string { return "fstat, " + fd() + ", buffer" },
		func() string { return "stat, " + pick(r, `"/dev/null"`, `"/dev/tty"`, path()) + ", buffer" },
		func() string { return "access, " + path() + ", " + some(r, "R_OK", "W_OK", "X_OK") },
		func() string { return "mkdir, " + path() + ", " + mode() },
		func() string { return "unlinkat, " + at() + ", " + path() + ", " + some(r, "AT_REMOVEDIR") },
		func() string { return "rename, " + path() + ", " + path() },
		func() string { return "symlink, " + path() + ", " + path() },
		func() string { return "readlink, " + path() + ", buffer, " + size() },
		func() string { return "chmod, " + path() + ", " + mode() },
		func() string { return "ftruncate, " + fd() + ", " + size() },
		func() string { return "dup, " + fd() },
		func() string { return "dup3, " + fd() + ", " + fd() + ", " + some(r, "O_CLOEXEC") },
		func() string { return "pipe2, buffer, O_NONBLOCK|" + some(r, "O_CLOEXEC") },
		func() string {
			return "mmap, 0, " + pick(r, "4096", "0", "65536") + ", " + some(r, "PROT_READ", "PROT_WRITE", "PROT_EXEC") +
				", MAP_PRIVATE|MAP_ANONYMOUS|" + some(r, "MAP_NORESERVE", "MAP_POPULATE", "MAP_STACK") + ", -1, 0"
		},
		func() string {
			return "mprotect, page, 4096, " + some(r, "PROT_READ", "PROT_WRITE") + "|PROT_READ|PROT_WRITE"
		},
		func() string {
			return "socket, " + pick(r, "AF_UNIX", "AF_INET", "AF_INET6") + ", " + pick(r, "SOCK_STREAM", "SOCK_DGRAM") + "|SOCK_NONBLOCK|" +
				some(r, "SOCK_CLOEXEC") + ", 0"
		},
		func() string { return "bind, " + fd() + ", " + address() },
		func() string { return "socketpair, AF_UNIX, SOCK_SEQPACKET|SOCK_NONBLOCK, 0, buffer" },
		func() string {
			return "sendto, " + fd() + ", bytes, " + size() + ", MSG_NOSIGNAL|MSG_DONTWAIT, " + address()
		},
		func() string {
			return "recvfrom, " + fd() + ", buffer, " + size() + ", MSG_DONTWAIT|" + some(r, "MSG_PEEK") + ", 0, 0"
		},
		func() string { return "rt_sigprocmask, " + pick(r, "SIG_BLOCK", "SIG_UNBLOCK") + ", &set, buffer, 8" },
		func() string { return "nanosleep, &moment, 0" },
		func() string { return "umask, " + mode() },
		func() string {
			return "writev, " + fd() + ", " + pick(r, "vectors", "vectors+1", "0", "(void *)8") + ", " + pick(r, "0", "1", "3", "4")
		},
		func() string { return "pwritev, " + fd() + ", vectors, " + pick(r, "0", "2") + ", " + size() + ", 0" },
		func() string {
			return "poll, " + pick(r, "polled", "polled+2", "(void *)8") + ", " + pick(r, "0", "1", "4") + ", 0"
		},
		// The system writes the time that is left.
		func() string {
			return "ppoll, polled+1, " + pick(r, "1", "3") + ", &(struct timespec){ 0, 1000 }, 0, 8"
		},
		func() string { return "epoll_create1, " + some(r, "EPOLL_CLOEXEC") },
		func() string {
			return "epoll_ctl, " + fd() + ", " + pick(r, "EPOLL_CTL_ADD", "EPOLL_CTL_MOD", "EPOLL_CTL_DEL") + ", " + fd() + ", &events[" +
				pick(r, "0", "1", "2") + "]"
		},
		func() string { return "epoll_wait, " + fd() + ", buffer, " + pick(r, "1", "4") + ", 0" },
		func() string {
			return `execve, "/none", ` + pick(r, "words", "words+3", "0") + ", " + pick(r, "words+2", "words+3", "0")
		},
		func() string { return "kill, 0x7fffffff, " + pick(r, "0", "SIGTERM", "SIGSTOP", "34", "64") },
	}
	var b strings.Builder
	for range n {
		fmt.Fprintf(&b, "\tsyscall(SYS_%s);\n", calls[r.IntN(len(calls))]())
	}
	return b.String()
}

const callsProgram = `#define _GNU_SOURCE
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static unsigned char bytes[200], buffer[200], page[8192] __attribute__((aligned(4096)));
static struct sockaddr_un local = { AF_UNIX, "soc" };
static struct sockaddr_in four = { AF_INET, 0x901f, { 0x0100007f } };
static struct sockaddr_in6 six = { AF_INET6, 0x901f, 7, IN6ADDR_LOOPBACK_INIT, 1 };
static struct timespec moment = { 0, 1000 };
static unsigned long set = 1 << 9 | 1L << 33;
static struct iovec vectors[8] = { { bytes + 9, 12 }, { 0, 0 }, { bytes + 64, 5 }, { 0, 3 } };
static struct pollfd polled[4] = { { -1, POLLIN }, { 3, POLLIN | POLLPRI | POLLRDHUP }, { 4, POLLOUT | POLLWRNORM | POLLRDBAND }, { 9999 } };
static struct epoll_event events[3] = { { EPOLLIN | EPOLLET, { .u64 = 1234567890123 } }, { EPOLLOUT | EPOLLRDHUP | EPOLLONESHOT }, { EPOLLPRI | 0x40000 } };
static char *words[] = { "a b", "\n\303", "", 0 };

int main(int argc, char **argv)
{
	for (int i = 0; i < 200; i++)
		bytes[i] = i * 7 + i / 3;
	if (chdir(argv[1]))
		return 1;
	signal(SIGPIPE, SIG_IGN);
	syscall(SYS_alarm, 12345);
%s	return 3;
}
`

// named finds where the values of a line begin.
var namedValue = regexp.MustCompile(`(?:^|, )(\$?\w+(?:@entry)?) = `)

// valuesOf takes a line of values apart.
func valuesOf(line string) (names []string, values map[string]string) {
	values = make(map[string]string)
	at := namedValue.FindAllStringSubmatchIndex(line, -1)
	for i, m := range at {
		end := len(line)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		name := line[m[2]:m[3]]
		names, values[name] = append(names, name), line[m[1]:end]
	}
	return names, values
}

// asStrace makes lines as strace writes them of the frames of entries and returns.
func asStrace(t *testing.T, printed string) (lines []string) {
	var call string
	var names []string
	var values map[string]string
	for line := range strings.Lines(printed) {
		location, rest, found := strings.Cut(strings.TrimSuffix(line, "\n"), "|")
		if !found {
			t.Fatalf("a line is %q", line)
		}
		if name, isReturn := strings.CutSuffix(location, " returns"); !isReturn {
			call = name
			names, values = valuesOf(rest)
			continue
		} else if name != call {
			t.Fatalf("%s returns, %s was called", name, call)
		}
		_, filled := valuesOf(rest)
		var arguments []string
		for _, name := range names {
			value := values[name]
			if now, ok := filled[name]; ok {
				value = now
			}
			// As strace, which leaves the mode out where nothing is created.
			if name == "mode" && strings.HasPrefix(call, "open") && !strings.Contains(values["flags"], "O_CREAT") {
				continue
			}
			arguments = append(arguments, value)
		}
		lines = append(lines, call+"("+strings.Join(arguments, ", ")+") = "+filled["$return"])
	}
	return lines
}

var (
	padding  = regexp.MustCompile(`\) += `)
	protocol = regexp.MustCompile(`IPPROTO_IP\b`)
	ready    = regexp.MustCompile(` \(\[\{fd=.*\}\](, left \{[^}]*\})?\)$|(, left \{[^}]*\})\)$`) // which descriptors of poll are
	mapping  = regexp.MustCompile(`= 0x7[0-9a-f]{11}`)
)

// TestSyscallsAsStrace: strace says the same of the calls of a generated program: which they are, in which order, with which
// arguments and results.
func TestSyscallsAsStrace(t *testing.T) {
	const calls = 300
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	source, program := filepath.Join(t.TempDir(), "calls.c"), filepath.Join(t.TempDir(), "calls")
	clitest.Put(t, source, fmt.Appendf(nil, callsProgram, generatedCalls(rand.New(rand.NewPCG(seed, 0)), calls)))
	if out, err := testtool.Command(t, "gcc", "-w", "-no-pie", "-o", program, source).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	log := filepath.Join(t.TempDir(), "strace")
	_ = testtool.Command(t, "strace", "-o", log, "-s", "200", "-e", "signal=none", program, t.TempDir()).Run() // the status is the program's
	content, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for line := range strings.Lines(string(content)) {
		line = padding.ReplaceAllString(strings.TrimSuffix(line, "\n"), ") = ")
		want = append(want, ready.ReplaceAllString(protocol.ReplaceAllString(line, "0"), ""))
	}
	got, _ := clitest.RecordInto(t, "-q", "--return=syscall:*", "--format", "{location}|{values}", "--", program, t.TempDir())
	if got.Status != 3 || got.Stderr != "" {
		t.Fatalf("status %d: %s", got.Status, got.Stderr)
	}
	lines := asStrace(t, got.Stdout)
	// Both begin with what is done to load the program, and end with exit_group, which does not return.
	marked := func(line string) bool { return strings.HasPrefix(line, "alarm(12345)") }
	from, begin := slices.IndexFunc(want, marked), slices.IndexFunc(lines, marked)
	if from < 0 || begin < 0 || len(want)-from < calls+1 {
		t.Fatalf("%d lines of strace, %d of ours", len(want), len(lines))
	}
	want, lines = want[from:], lines[begin:]
	for i := range calls + 1 {
		mine := "none"
		if i < len(lines) {
			mine = mapping.ReplaceAllString(lines[i], "= MAPPED")
		}
		if theirs := mapping.ReplaceAllString(want[i], "= MAPPED"); theirs != mine {
			t.Errorf("call %d is\n\t%s\nstrace says\n\t%s", i, mine, theirs)
		}
	}
}
