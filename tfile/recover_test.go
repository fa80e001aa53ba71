package tfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/arch"
)

// damages change a file at a place and return it with the end of what they touched, as an offset before the change.
var damages = map[string]func(random *rand.Rand, data []byte, at int) ([]byte, int){
	"noise": func(random *rand.Rand, data []byte, at int) ([]byte, int) {
		end := min(at+1+random.IntN(40), len(data))
		for i := at; i < end; i++ {
			data[i] = byte(random.Uint32())
		}
		return data, end
	},
	"one bit": func(random *rand.Rand, data []byte, at int) ([]byte, int) {
		data[at] ^= 1 << random.IntN(8)
		return data, at + 1
	},
	"zeros": func(random *rand.Rand, data []byte, at int) ([]byte, int) {
		end := min(at+512, len(data))
		clear(data[at:end])
		return data, end
	},
	"a hole": func(random *rand.Rand, data []byte, at int) ([]byte, int) {
		end := min(at+200, len(data))
		return slices.Delete(data, at, end), end
	},
	"a cut": func(random *rand.Rand, data []byte, at int) ([]byte, int) { return data[:at], len(data) },
	"too much": func(random *rand.Rand, data []byte, at int) ([]byte, int) {
		return slices.Insert(data, at, data[at/2:at]...), at
	},
}

// TestRecovery damages a file at every few bytes: frames that the damage does not touch must all be found, and frames, lost
// stretches, definitions and end marker make up the file.
func TestRecovery(t *testing.T) {
	for name, damage := range damages {
		for orderName, order := range orders {
			t.Run(name+", "+orderName, func(t *testing.T) {
				random := rand.New(rand.NewPCG(1, 2))
				whole := damageable(t, order)
				first := whole.starts[0]
				for at := int(first); at < len(whole.source.mem); at += 1 + random.IntN(30) {
					data, end := damage(random, slices.Clone(whole.source.mem), at)
					f, err := OpenBytes(data, WithRecovery(), WithOrder(order))
					if err != nil && !errors.Is(err, ErrTruncated) {
						t.Fatalf("damage at %d: %v", at, err)
					}
					tiles(t, f, first)
					found := make(map[string]bool)
					for i := range f.NumFrames() {
						found[string(frameOf(t, f, i).Bytes())] = true
					}
					for i := range whole.NumFrames() {
						touched := whole.starts[i+1] > int64(at) && whole.starts[i] < int64(end)
						if !touched && !found[string(frameOf(t, whole, i).Bytes())] {
							t.Errorf("damage from %d to %d: frame %d, from %d to %d, was not found", at, end, i, whole.starts[i], whole.starts[i+1])
						}
					}
				}
			})
		}
	}
}

// damageable is a file of frames of many kinds, no two of which are equal and none of which is empty.
func damageable(t *testing.T, order arch.ByteOrder) *File {
	b := Builder{Order: order}
	var frames [][]byte
	for i := range 40 {
		b.Begin(nil, numberedTracepoint(i))
		if i%3 > 0 {
			for j := range b.Registers(16) {
				b.buf[len(b.buf)-1-j] = byte(i * j)
			}
		}
		b.Variable(2, int64(i))
		b.AppendMemory(0x1000, bytes.Repeat([]byte{byte(i), 1, 0, 0, 0}, i))
		frames = append(frames, b.Finish())
	}
	f, err := OpenBytes(write(t, appendHeader(order), frames...), WithOrder(order))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// tiles fails unless all of f, from its first frame on, is accounted for.
func tiles(t *testing.T, f *File, at int64) {
	t.Helper()
	lost := f.Lost()
	for i := 0; ; i++ {
		for len(lost) > 0 && lost[0].Frame == i {
			if lost[0].Offset != at || lost[0].Length <= 0 {
				t.Fatalf("lost %+v, but what comes before frame %d begins at %d", lost[0], i, at)
			}
			at += lost[0].Length
			lost = lost[1:]
		}
		if i == f.NumFrames() {
			break
		}
		frame := frameOf(t, f, i)
		if frame.Offset() != at {
			t.Fatalf("frame %d at %d, want %d", i, frame.Offset(), at)
		}
		at += int64(len(frame.Bytes()))
	}
	if end := f.End(); len(lost) > 0 || at > end || end-at > markerLen || !isZero(f.source.mem[at:end]) {
		t.Fatalf("frames and what was lost end at %d, the file at %d of %d; lost besides: %v", at, end, f.source.size, lost)
	}
}

func isZero(b []byte) bool { return len(bytes.Trim(b, "\x00")) == 0 }

// TestRecoveryAccounts compares what is said of some damage.
func TestRecoveryAccounts(t *testing.T) {
	const head = Magic + "R 4\ntp T1:10:E:0:0\n\n"
	const frame, empty, end = "\x01\x00\x05\x00\x00\x00Rabcd", "\x01\x00\x00\x00\x00\x00", "\x00\x00\x00\x00"
	const inside = "\x01\x00\x05\x00\x00\x00Qabcd" // the length is right
	base := int64(len(head))
	tests := []struct {
		name, data string
		frames     int
		lost       []Lost
		end        int64 // from the first frame
		err        string
	}{
		{"none", frame + empty + frame + end, 3, nil, 32, ""},
		{"inside a frame", frame + inside + frame + end, 3, nil, 37, ""},
		{"inside the last frame", frame + inside + end, 2, nil, 26, ""},
		{"between", frame + "damage" + frame + empty + end, 3, []Lost{{base + 11, 6, 1}}, 38, ""},
		{"at the start", "damage" + frame + end, 1, []Lost{{base, 6, 0}}, 21, ""},
		{"twice", frame + "x" + frame + "yz" + frame + end, 3, []Lost{{base + 11, 1, 1}, {base + 23, 2, 2}}, 40, ""},
		{"a zeroed frame", frame + end + end + end[:3] + frame + end, 2, []Lost{{base + 11, 11, 1}}, 37, ""},
		{"behind the last", frame + "damage", 1, []Lost{{base + 11, 6, 1}}, 17,
			`premature end of the trace file: offset 39: found "damage", expected a frame or the end marker, here or further on`},
		{"a cut frame", frame + frame[:8], 1, []Lost{{base + 11, 8, 1}}, 19,
			`premature end of the trace file: offset 39: found "\x01\x00\x05\x00\x00\x00", expected a frame or the end marker, here or further on`},
		{"trailing bytes", frame + end + "trailing", 1, nil, 15, ""},
		{"another file behind damage", frame + "damage" + Magic + frame, 1, []Lost{{base + 11, 6, 1}}, 17,
			`premature end of the trace file: offset 39: found "damage", expected a frame or the end marker, here or further on`},
		{"another file", frame + end + Magic + frame, 1, nil, 15, ""},
		{"nothing", "", 0, nil, 0,
			"premature end of the trace file: offset 28: found the end of the file, expected a frame or the end marker"},
	}
	for _, test := range tests {
		f, err := Open(strings.NewReader(head+test.data), base+int64(len(test.data)), WithRecovery(), func(o *options) { o.window = 7 })
		if (err == nil && test.err != "") || (err != nil && err.Error() != test.err) {
			t.Errorf("%s: %v, want %s", test.name, err, test.err)
		}
		if f.NumFrames() != test.frames || f.End()-base != test.end {
			t.Errorf("%s: %d frames, the end at %d; want %d, %d", test.name, f.NumFrames(), f.End()-base, test.frames, test.end)
		}
		if diff := cmp.Diff(test.lost, f.Lost()); diff != "" {
			t.Errorf("%s: lost (-want +got):\n%s", test.name, diff)
		}
		told := 0
		for _, finding := range f.Findings() {
			if finding.Rule == RuleLost || finding.Rule == RuleHidden {
				told++
			}
		}
		if told != len(test.lost) {
			t.Errorf("%s: findings %v", test.name, f.Findings())
		}
	}
}

// TestRecoveryWithoutDefinitions takes any number, but no frame that stands alone.
func TestRecoveryWithoutDefinitions(t *testing.T) {
	const frame, junk = "\x07\x00\x05\x00\x00\x00Rabcd", "junk"
	data := Magic + "R 4\n\n" + junk + frame + junk + frame + frame + junk + frame + "\x00\x00"
	f, err := OpenBytes([]byte(data), WithRecovery(), WithOrder(binary.LittleEndian))
	if err != nil || f.NumFrames() != 3 || len(f.Lost()) != 2 {
		t.Errorf("%d frames, lost %v, %v", f.NumFrames(), f.Lost(), err)
	}
}

// TestRecoveryGivesUp searches where at every 17th byte a long frame seems to begin, which is one block short of being whole.
func TestRecoveryGivesUp(t *testing.T) {
	const unit = "VV\xf0\xff\x00\x00S\x04\x00xxxxS\x01\x00x" // the header and some of what follows it are a V block, too
	data := Magic + "R 4\ntp T5656:10:E:0:0\n\n" + strings.Repeat(unit, 100_000)
	f, err := OpenBytes([]byte(data), WithRecovery())
	if !errors.Is(err, ErrTruncated) || len(f.Findings()) != 1 || !strings.Contains(f.Findings()[0].Text, "too much") {
		t.Errorf("%v, %v", f.Findings(), err)
	}
}

func TestDamageWithoutRecovery(t *testing.T) {
	const frame = "\x01\x00\x05\x00\x00\x00Rabcd"
	f, err := OpenBytes([]byte(Magic + "R 4\ntp T1:10:E:0:0\n\n" + frame + "damage" + frame + "\x00\x00"))
	if !errors.Is(err, ErrTruncated) || f.NumFrames() != 1 || f.Lost() != nil {
		t.Errorf("%d frames, lost %v, %v", f.NumFrames(), f.Lost(), err)
	}
}
