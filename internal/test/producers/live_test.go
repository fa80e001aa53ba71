package producers

import (
	"bytes"
	"context"
	"debug/elf"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tracewell/internal/test/dialecttest"
	"tracewell/internal/test/testtool"
	"tracewell/itrace"
	"tracewell/itrace/dialects"
	"tracewell/itrace/match"
)

var (
	live = flag.Bool("live", false, "run the producers that Debian has")
	seed = flag.Uint64("seed", 0, "of what the programs compute, and where faults are planted; 0 draws one")
)

const (
	mostLog  = 200 << 20 // bytes of a log: some producers write without end where they are given nonsense
	patience = 10 * time.Minute
)

// processor is one that programs are compiled for and QEMU emulates.
type processor struct {
	triple string // of clang
	qemu   string
	flags  []string // those of clang that it needs
}

var processors = map[string]processor{
	"AArch64":  {triple: "aarch64-linux-gnu", qemu: "aarch64"},
	"Arm":      {triple: "arm-linux-gnueabi", qemu: "arm"},
	"RISC-V":   {triple: "riscv64-linux-gnu", qemu: "riscv64", flags: []string{"-march=rv64gc", "-mno-relax"}},
	"MIPS":     {triple: "mips-linux-gnu", qemu: "mips"},
	"MIPS, EL": {triple: "mipsel-linux-gnu", qemu: "mipsel"},
	"x86-64":   {triple: "x86_64-linux-gnu", qemu: "x86_64"},
}

// drawn is the seed of this run.
func drawn(t *testing.T) uint64 {
	if !*live {
		t.Skip("producers run with -live: make prove-dialects")
	}
	n := *seed
	if n == 0 {
		n = rand.Uint64()
	}
	t.Logf("seed %d", n)
	return n
}

// run runs a producer, whose files may have so many bytes and which is killed at the end of patience. It has to end with a status.
func run(t *testing.T, folder string, status int, tool string, args ...string) (output []byte) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	const limited = `ulimit -f "$1"; shift; exec "$@" </dev/null`
	command := []string{"-c", limited, "sh", fmt.Sprint(mostLog / 512), filepath.Join(testtool.Folder, tool)}
	cmd := exec.CommandContext(ctx, testtool.Path(t, "sh"), append(command, args...)...)
	cmd.Dir = folder
	output, err := cmd.CombinedOutput()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) || cmd.ProcessState.ExitCode() != status {
		t.Fatalf("%s: %v, want status %d\n%s", tool, err, status, output)
	}
	return output
}

// build compiles the program for a processor, with more flags if there are any, and returns its path.
func (p processor) build(t *testing.T, level string, seed uint32, flags ...string) string {
	t.Helper()
	folder := t.TempDir()
	source, err := filepath.Abs("testdata/live/program.c")
	if err != nil {
		t.Fatal(err)
	}
	run(t, folder, 0, "clang", append([]string{"--target=" + p.triple, "-O" + level, fmt.Sprintf("-DSEED=%du", seed), "-g",
		"-ffreestanding", "-fno-stack-protector", "-fno-pic", "-nostdlib", "-static", "-fuse-ld=lld", "-Wl,-e,_start",
		"-o", "program", source}, slices.Concat(p.flags, flags)...)...)
	return filepath.Join(folder, "program")
}

// entry is the address of a function.
func entry(t *testing.T, program, name string) uint64 {
	t.Helper()
	f, err := elf.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	symbols, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range symbols {
		if s.Name == name {
			return s.Value
		}
	}
	t.Fatalf("%s has no %s", program, name)
	return 0
}

// plugin compiles a plugin of QEMU: execlog, which writes execlog's text, or counts.
func plugin(t *testing.T, name string) string {
	t.Helper()
	folder := t.TempDir()
	source, err := filepath.Abs(filepath.Join("testdata/live", name+".c"))
	if err != nil {
		t.Fatal(err)
	}
	run(t, folder, 0, "gcc", "-shared", "-fPIC", "-O2", "-o", name+".so", source)
	return filepath.Join(folder, name+".so")
}

// trace reads a log: it is in a dialect, and all of it can be read.
func trace(t *testing.T, path, dialect string) (text []byte, pcs []uint64) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	found := dialects.All.Detect(text)
	if found.Dialect == nil || found.Dialect.Name != dialect {
		t.Fatalf("%s is taken for %v, want %s", filepath.Base(path), found.Dialect, dialect)
	}
	for _, r := range dialecttest.Read(t, found.Dialect, bytes.NewReader(text), 512) {
		switch r.Kind {
		case itrace.Unknown:
			t.Fatalf("%s, line %d: %v: %s", filepath.Base(path), r.Line, r.Problem, r.Text)
		case itrace.Instruction:
			pcs = append(pcs, r.Addr)
		}
	}
	return text, pcs
}

// TestLiveQEMU: what QEMU's log and a plugin say of the same program is the same, of single instructions and of blocks.
func TestLiveQEMU(t *testing.T) {
	random := rand.New(rand.NewPCG(drawn(t), 0))
	execlog := plugin(t, "execlog")
	for name, p := range processors {
		for _, level := range []string{"0", "1", "2"} {
			seed := random.Uint32()
			t.Run(name+" -O"+level, func(t *testing.T) {
				program := p.build(t, level, seed)
				folder := t.TempDir()
				log := func(name string, args ...string) string {
					run(t, folder, 42, "qemu-"+p.qemu, slices.Concat(args, []string{"-D", name, program})...)
					return filepath.Join(folder, name)
				}
				steps, pcs := trace(t, log("steps", "-singlestep", "-d", "in_asm,exec,nochain,cpu"), "qemu")
				blocks, _ := trace(t, log("blocks", "-d", "in_asm,exec,nochain"), "qemu")
				chained, _ := trace(t, log("chained", "-d", "in_asm,exec"), "qemu")
				plain, _ := trace(t, log("plain", "-singlestep", "-d", "exec,nochain"), "qemu")
				plugged, _ := trace(t, log("plugged", "-plugin", execlog, "-d", "plugin"), "execlog")
				for name, other := range map[string][]byte{"blocks": blocks, "plain": plain, "plugged": plugged} {
					if r := matched(t, steps, other, match.Options{}); r.Verdict != match.Equal || r.Compared.Instructions != int64(len(pcs)) {
						t.Errorf("%s: %s %s, %d of %d instructions compared: %v", name, r.Verdict, r.Reason, r.Compared.Instructions, len(pcs), r.Counts)
					}
				}
				if r := matched(t, steps, chained, match.Options{}); r.Verdict != match.Failed || !strings.Contains(r.Reason, "incomplete") {
					t.Errorf("chained: %s %s", r.Verdict, r.Reason)
				}
				if level == "0" { // no call is a jump there
					fib, calls := entry(t, program, "fib")&^1, 0
					for _, pc := range pcs {
						if pc == fib {
							calls++
						}
					}
					if calls != 41 {
						t.Errorf("fib is entered %d times, want 41", calls)
					}
				}
				oneLost(t, random, steps, plugged)
			})
		}
	}
}

// oneLost takes an instruction out of a log of single lines: that and nothing else is told.
func oneLost(t *testing.T, random *rand.Rand, reference, other []byte) {
	t.Helper()
	lines := bytes.SplitAfter(other, []byte("\n"))
	n := len(lines)/4 + random.IntN(len(lines)/2)
	r := matched(t, reference, bytes.Join(slices.Delete(lines, n, n+1), nil), match.Options{})
	var told int64
	for _, count := range r.Counts {
		told += count
	}
	if r.Verdict != match.Different || told != 1 {
		t.Errorf("without its line %d the plugin's log is %s %s, %v", n+1, r.Verdict, r.Reason, r.Counts)
	}
}

// TestLiveProcess: Valgrind, GDB's steps and QEMU's plugin say that a program of this machine's executed the same.
func TestLiveProcess(t *testing.T) {
	random := rand.New(rand.NewPCG(drawn(t), 1))
	p := processors["x86-64"]
	program := p.build(t, "2", random.Uint32())
	folder := t.TempDir()
	run(t, folder, 42, "qemu-"+p.qemu, "-plugin", plugin(t, "execlog"), "-d", "plugin", "-D", "plugged", program)
	run(t, folder, 42, "valgrind", "--tool=lackey", "--trace-mem=yes", "--log-file=lackey", program)
	const script = `set confirm off
set pagination off
set style enabled off
starti
while 1
  x/i $pc
  stepi
end
`
	if err := os.WriteFile(filepath.Join(folder, "script"), []byte(script), 0o644); err != nil {
		t.Fatal(err)
	}
	// The script ends with an error, as the program has no registers then.
	output := run(t, folder, 1, "gdb", "-nx", "-q", "-batch", "-x", "script", program)
	if err := os.WriteFile(filepath.Join(folder, "steps"), output, 0o644); err != nil {
		t.Fatal(err)
	}
	plugged, pcs := trace(t, filepath.Join(folder, "plugged"), "execlog")
	lackey, _ := trace(t, filepath.Join(folder, "lackey"), "lackey")
	steps, _ := trace(t, filepath.Join(folder, "steps"), "gdb")
	for name, pair := range map[string][2][]byte{"plugin, lackey": {plugged, lackey}, "plugin, GDB": {plugged, steps}, "lackey, GDB": {lackey, steps}} {
		// The stack is at another place under each.
		r := matched(t, pair[0], pair[1], match.Options{Ignores: []match.Ignore{{Text: "memory", Kind: itrace.Memory}}})
		if r.Verdict != match.Equal || r.Compared.Instructions != int64(len(pcs)) {
			t.Errorf("%s: %s %s, %d of %d instructions compared: %v", name, r.Verdict, r.Reason, r.Compared.Instructions, len(pcs), r.Counts)
		}
	}
}

// bochsrc is the configuration of Bochs: nothing to see, and nothing to hear.
const bochsrc = `config_interface: textconfig
display_library: rfb, options="timeout=0"
romimage: file=/usr/share/bochs/BIOS-bochs-latest
vgaromimage: file=/usr/share/bochs/VGABIOS-lgpl-latest
cpu: model=core2_penryn_t9600, count=1, ips=10000000
sound: waveoutdrv=dummy, waveindrv=dummy, midioutdrv=dummy
speaker: enabled=0
megs: 32
floppya: 1_44=floppy, status=inserted
boot: floppy
log: messages
`

// TestLiveBoot: Bochs and QEMU say that a boot sector executed the same.
func TestLiveBoot(t *testing.T) {
	drawn(t)
	source, err := filepath.Abs("testdata/boot.S")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	run(t, folder, 0, "gcc", "-c", "-x", "assembler-with-cpp", source, "-o", "boot.o")
	run(t, folder, 0, "ld", "-Ttext", "0", "--oformat", "binary", "boot.o", "-o", "floppy")
	const floppySize, sector = 1440 << 10, 512
	if err := os.Truncate(filepath.Join(folder, "floppy"), floppySize); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"bochsrc": bochsrc,
		"script":  "b 0x7c00\nc\ntrace on\ntrace-mem on\ntrace-reg on\ns 67\nquit\n",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	printed := run(t, folder, 0, "bochs", "-q", "-f", "bochsrc", "-rc", "script")
	from := bytes.Index(printed, []byte("\nTracing "))
	if from < 0 {
		t.Fatalf("Bochs does not trace:\n%s", printed)
	}
	if err := os.WriteFile(filepath.Join(folder, "bochs"), printed[from+1:], 0o644); err != nil {
		t.Fatal(err)
	}
	const exitStatus = 41 // by the device that the program writes to
	run(t, folder, exitStatus, "qemu-system-i386", "-M", "pc", "-cpu", "Nehalem", "-m", "32", "-drive", "if=floppy,format=raw,file=floppy",
		"-device", "isa-debug-exit,iobase=0xf4", "-display", "none", "-monitor", "none", "-serial", "none",
		"-singlestep", "-d", "in_asm,exec,nochain,cpu", "-dfilter", "0x7c00+0x200", "-D", "qemu")
	bochs, pcs := trace(t, filepath.Join(folder, "bochs"), "bochs")
	qemu, _ := trace(t, filepath.Join(folder, "qemu"), "qemu")
	if r := matched(t, bochs, qemu, match.Options{}); r.Verdict != match.Equal || r.Compared.Instructions != int64(len(pcs)) || len(pcs) < 60 {
		t.Errorf("%s %s, %d of %d instructions compared: %v", r.Verdict, r.Reason, r.Compared.Instructions, len(pcs), r.Counts)
	}
}
