package tfile

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"testing"
)

// pieces cuts data into pieces as frames are: short ones, some longer than what is read at once, and empty ones.
func pieces(rng *rand.Rand, size int) (starts []int) {
	for at := 0; at < size; {
		starts = append(starts, at)
		longest := []int{1, 300, 4<<10 + 2, longStep + 2}[rng.IntN(4)*rng.IntN(2)]
		at += rng.IntN(longest + 1)
	}
	return append(starts, size)
}

// walks are the orders in which frames are looked at.
var walks = map[string]func(rng *rand.Rand, n int) []int{
	"forward":  func(_ *rand.Rand, n int) []int { return count(n) },
	"backward": func(_ *rand.Rand, n int) []int { all := count(n); slices.Reverse(all); return all },
	"anywhere": func(rng *rand.Rand, n int) []int { return rng.Perm(n) },
	"some": func(rng *rand.Rand, n int) []int {
		return slices.DeleteFunc(count(n), func(int) bool { return rng.IntN(9) > 0 })
	},
	"two walks": func(_ *rand.Rand, n int) []int { return interleaved(n) },
}

func count(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

func interleaved(n int) (all []int) {
	for i := range n / 2 {
		all = append(all, i, n/2+i)
	}
	return all
}

// TestReadAhead compares with the bytes themselves: walks in every order, one alone and all at the same time.
func TestReadAhead(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	data := make([]byte, 3<<20)
	for i := range data {
		data[i] = byte(rng.Uint32())
	}
	starts := pieces(rng, len(data))
	check := func(t *testing.T, a *readAhead, s *source, order []int) {
		var buf []byte
		for _, i := range order {
			start, end := starts[i], starts[i+1]
			got, err := a.read(s, buf, int64(start), end-start)
			if err != nil || !bytes.Equal(got, data[start:end]) {
				t.Errorf("%d bytes at %d: %v, not those of the file", end-start, start, err)
				return
			}
			clear(got) // they are the caller's
			buf = got
		}
	}
	s, shared := &source{r: bytes.NewReader(data), size: int64(len(data))}, new(readAhead)
	for name, order := range walks {
		chosen := order(rng, len(starts)-1)
		t.Run(name, func(t *testing.T) {
			check(t, new(readAhead), s, chosen)
			t.Parallel()
			check(t, shared, s, chosen)
		})
	}
	t.Cleanup(func() {
		if n := len(shared.idle); n > maxWalks {
			t.Errorf("%d windows are kept", n)
		}
	})
}

// TestReadAheadCost counts calls: a walk, or two in turns, need one for many frames, and frames here and there one each.
func TestReadAheadCost(t *testing.T) {
	const frames, size = 10_000, 200
	for name, most := range map[string]int{"forward": 50, "two walks": 100, "anywhere": frames} {
		r := &countingReader{r: bytes.NewReader(make([]byte, frames*size))}
		a, s := new(readAhead), &source{r: r, size: frames * size}
		buf := make([]byte, 0, size)
		for _, i := range walks[name](rand.New(rand.NewPCG(1, 2)), frames) {
			if _, err := a.read(s, buf, int64(i)*size, size); err != nil {
				t.Fatal(err)
			}
		}
		if r.calls > most {
			t.Errorf("%s: %d calls", name, r.calls)
		}
		if n := testing.AllocsPerRun(100, func() { a.read(s, buf, 0, size) }); n > 0 {
			t.Errorf("%s: %v allocations a frame", name, n)
		}
	}
}

// TestReadAheadCut reads a file that was cut while it is open: frames in front of the cut are there, the others an error.
func TestReadAheadCut(t *testing.T) {
	const size, left, frame = 100_000, 60_050, 100
	a, s := new(readAhead), &source{r: bytes.NewReader(make([]byte, left)), size: size}
	for at := int64(0); at < size; at += frame {
		_, err := a.read(s, nil, at, frame)
		if whole := at+frame <= left; whole != (err == nil) || err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatalf("at %d: %v", at, err)
		}
	}
}
