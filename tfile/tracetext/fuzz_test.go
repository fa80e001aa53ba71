package tracetext

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tracewell/tfile"
)

// FuzzFile makes text of arbitrary bytes behind the magic, and of the text the bytes again, in both byte orders.
func FuzzFile(f *testing.F) {
	for _, seed := range fileSeeds() {
		f.Add(seed, true)
		f.Add(seed, false)
	}
	f.Add(readReal(f, "queue-fast")[len(tfile.Magic):], false)
	for _, text := range handWritten(f) {
		f.Add(bytesOf(f, text)[len(tfile.Magic):], false)
	}
	f.Fuzz(func(t *testing.T, behind []byte, big bool) {
		data := append([]byte(tfile.Magic), behind...)
		opts := [][]Option{nil, {WithOrder(binary.LittleEndian)}}
		if big {
			opts[1] = []Option{WithOrder(binary.BigEndian)}
		}
		for _, opt := range opts {
			text := textOf(t, data, opt...)
			if got := bytesOf(t, text); !bytes.Equal(got, data) {
				t.Fatalf("%q came back as\n%q by way of\n%s", data, got, text)
			}
		}
	})
}

// fileSeeds are trace files without the magic.
func fileSeeds() (seeds [][]byte) {
	for _, text := range []string{
		"",
		"\n\x00\x00\x00\x00",
		"R 4\n\n\x02\x00\x0b\x00\x00\x00RabcdV\x01\x00\x00\x00\x02\x00",
		"R 4\ntdesc <target><feature name=\"f\"><reg name=\"a\" bitsize=\"32\"/></feature></target>\n\n" +
			"\x02\x00\x05\x00\x00\x00Rabcd\x00\x00\x00",
		"R 10\ntp T1:10:E:0:0:F5:S:X3,220027\ntp A1:10:R01M-1,10,4X00000003,220027L\n" +
			"tp S2:10:L\ntp A2:10:\ntp Z1:10:cmd:0:1:61\ntp V1:10:1:2\n\n",
		"status 1;terror:6162:3;tframes:-1;notes:66:;what;starttime:6163c0d8f2c40\n" +
			"status 0;tstop::0;circular:1\ntsv 1:5:1:61\ntsv 1:fffffffffffffffb:0:62\n\n",
		"R 2\r\nwhat\x00\xff\ntdesc a \ntdesc b\t\n\n\xff\xff\x03\x00\x00\x00Rab\x00\x00" +
			tfile.Magic + "R 1\n\n\x00\x00\x00\x00trailing",
		"tsv 2:0:0:6162\n\n\x00\x02\x00\x00\x00\x1dV\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\x05" +
			"M\x00\x00\x00\x00\x00\x00\x00\x10\x00\x02abS\x00\x00?\x00\x00",
	} {
		seeds = append(seeds, []byte(text))
	}
	return seeds
}

// handWritten returns the texts of TestGolden.
func handWritten(f *testing.F) (texts []string) {
	names, err := filepath.Glob("testdata/*.txt")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	return texts
}

// FuzzText reads arbitrary text. What is a trace file has a text that makes the same file and is the text of that file.
func FuzzText(f *testing.F) {
	f.Add("byte-order little\n\nframes\n\nend\n")
	for _, seed := range fileSeeds() {
		f.Add(textOf(f, append([]byte(tfile.Magic), seed...))[len(firstLine)+1:])
	}
	f.Add(textOf(f, readReal(f, "queue-fast"))[len(firstLine)+1:])
	for _, text := range handWritten(f) {
		f.Add(text[strings.Index(text, firstLine)+len(firstLine)+1:])
	}
	f.Fuzz(func(t *testing.T, behind string) {
		var data, again bytes.Buffer
		if err := Read(bytes.NewReader([]byte(firstLine+"\n"+behind)), &data); err != nil {
			if !errors.As(err, new(*Error)) {
				t.Fatalf("%v, which is no *Error", err)
			}
			return
		}
		text := textOf(t, data.Bytes())
		if err := Read(bytes.NewReader([]byte(text)), &again); err != nil {
			t.Fatalf("%v in the text\n%s", err, text)
		}
		if !bytes.Equal(again.Bytes(), data.Bytes()) {
			t.Fatalf("%q came back as\n%q by way of\n%s", data.Bytes(), again.Bytes(), text)
		}
		if second := textOf(t, again.Bytes()); second != text {
			t.Fatalf("the text\n%s\nbecame\n%s", text, second)
		}
	})
}
