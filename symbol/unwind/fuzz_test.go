package unwind

import (
	"bytes"
	"debug/elf"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"tracewell/arch"
	"tracewell/internal/test/testtool"
	"tracewell/symbol"
	"tracewell/tdesc"
	"tracewell/tdesc/machine"
)

// stackBase is where the stacks of these tests lie.
const stackBase = arch.Addr(0x7ffc00000000)

// memory is a stack.
type memory []byte

// ReadMemory implements Memory.
func (m memory) ReadMemory(addr arch.Addr, p []byte) int {
	if uint64(addr-stackBase) >= uint64(len(m)) {
		return 0
	}
	return copy(p, m[addr-stackBase:])
}

// damagedProgram is a real program with bytes written over its unwinding tables.
type damagedProgram struct {
	content []byte
	table   *elf.Section
	code    *elf.Section
	folder  string
	layout  *tdesc.Layout
}

func newDamagedProgram(t testing.TB) *damagedProgram {
	t.Helper()
	content, err := os.ReadFile(testtool.Path(t, "true"))
	if err != nil {
		t.Fatal(err)
	}
	file, err := elf.NewFile(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	layout, err := machine.Linux(arch.AMD64).Layout()
	if err != nil {
		t.Fatal(err)
	}
	return &damagedProgram{content: content, table: file.Section(".eh_frame"), code: file.Section(".text"), folder: t.TempDir(), layout: layout}
}

// unwind writes over a piece of the table, and unwinds a stack from a place in the code.
func (d *damagedProgram) unwind(t testing.TB, at uint32, damage []byte, pc uint32, stack []byte) ([]Frame, error) {
	t.Helper()
	content := bytes.Clone(d.content)
	copy(content[d.table.Offset:][:d.table.Size][uint64(at)%d.table.Size:], damage)
	path := filepath.Join(d.folder, "program")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	program, err := symbol.Open(path, symbol.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer program.Close()
	registers := make([]byte, d.layout.Size)
	for i := range d.layout.Slots[:16] {
		slot := d.layout.Slots[i]
		arch.PutAddr(registers[slot.Offset:slot.Offset+slot.Size], arch.AMD64.Order, stackBase+arch.Addr(8*i))
	}
	return New(program, d.layout).Stack(arch.Addr(d.code.Addr)+arch.Addr(uint64(pc)%d.code.Size), registers, memory(stack))
}

// words makes a stack on which words are addresses of code and of the stack itself.
func (d *damagedProgram) words(random *rand.Rand) []byte {
	var stack []byte
	for at := range 48 {
		word := d.code.Addr + random.Uint64N(d.code.Size)
		if random.IntN(3) == 0 {
			word = uint64(stackBase) + uint64(8*(at+random.IntN(20)))
		}
		stack = arch.AMD64.Order.AppendUint64(stack, word)
	}
	return stack
}

// TestDamaged unwinds by tables that are damaged at random. Every walk has to end, for a reason, and to go up.
func TestDamaged(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	d := newDamagedProgram(t)
	deep, missing := 0, 0
	for range 400 {
		damage := make([]byte, random.IntN(200))
		for i := range damage {
			damage[i] = byte(random.Uint32())
		}
		frames, err := d.unwind(t, random.Uint32(), damage, random.Uint32(), d.words(random))
		if len(frames) == 0 || err == nil {
			t.Fatalf("%d frames, %v", len(frames), err)
		}
		var m *MissingError
		if errors.As(err, &m) {
			missing++
		}
		if len(frames) > 2 {
			deep++
		}
		for i := 1; i < len(frames)-1; i++ {
			if a, b := frames[i-1], frames[i]; b.CFA < a.CFA && !a.Signal && !b.Signal {
				t.Errorf("frame %d at %v lies below %v", i, b.CFA, a.CFA)
			}
		}
	}
	if deep < 50 || missing < 10 {
		t.Errorf("%d deep walks, %d through missing memory", deep, missing)
	}
}

func FuzzStack(f *testing.F) {
	d := newDamagedProgram(f)
	random := rand.New(rand.NewPCG(7, 8))
	for _, expression := range []string{
		"\x0f\x03\x77\x08\x06", "\x16\x06\x02\x77\x00", "\x10\x06\x03\x22\x12\x06", "\x0a\x0b\x2d\x2e\x08", "\x0f\x05\x2f\xfd\xff\x96\x96",
	} {
		f.Add(random.Uint32(), []byte(expression), random.Uint32(), d.words(random))
	}
	f.Fuzz(func(t *testing.T, at uint32, damage []byte, pc uint32, stack []byte) {
		if frames, err := d.unwind(t, at, damage, pc, stack); len(frames) == 0 || err == nil {
			t.Errorf("%d frames, %v", len(frames), err)
		}
	})
}
