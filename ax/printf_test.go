package ax

import (
	"errors"
	"math"
	"strings"
	"testing"

	"tracewell/arch"
)

// readTestString knows a string at 0x1000 and a wide one at 0x2000.
func readTestString(addr arch.Addr, wide bool, limit int) (string, error) {
	text := map[arch.Addr]string{0x1000: "hello", 0x2000: "grün"}[addr]
	if text == "" || wide != (addr == 0x2000) {
		return "", errors.New("no such page")
	}
	runes := []rune(text)
	return string(runes[:min(limit, len(runes))]), nil
}

// TestFormatPrintf holds what glibc's printf prints for the same, where C defines it.
func TestFormatPrintf(t *testing.T) {
	tests := []struct {
		format string
		args   []int64
		want   string
	}{
		{"", nil, ""},
		{"plain", nil, "plain"},
		{"100%%", nil, "100%"},
		{"%%%d%%", []int64{1}, "%1%"},
		{"a=%d, b=%i.", []int64{1, -2}, "a=1, b=-2."},

		{"%d", []int64{math.MaxUint32}, "-1"},
		{"%d", []int64{math.MinInt32}, "-2147483648"},
		{"%u", []int64{-1}, "4294967295"},
		{"%x", []int64{-1}, "ffffffff"},
		{"%hd", []int64{0x18000}, "-32768"},
		{"%hu", []int64{-1}, "65535"},
		{"%hhd", []int64{0x1ff}, "-1"},
		{"%hhx", []int64{0x1fe}, "fe"},
		{"%ld", []int64{math.MinInt64}, "-9223372036854775808"},
		{"%lu", []int64{-1}, "18446744073709551615"},
		{"%lld", []int64{math.MaxInt64}, "9223372036854775807"},
		{"%llx", []int64{-1}, "ffffffffffffffff"},
		{"%zd %zu %td %jd", []int64{-1, 2, -3, 4}, "-1 2 -3 4"},

		{"[%5d] [%-5d] [%05d] [%-05d]", []int64{42, 42, 42, 42}, "[   42] [42   ] [00042] [42   ]"},
		{"[%5d] [%05d] [%.3d] [%6.3d] [%06.3d]", []int64{-42, -42, -42, -42, -42}, "[  -42] [-0042] [-042] [  -042] [  -042]"},
		{"[%+d] [%+d] [% d] [% d] [%+ d]", []int64{1, -1, 1, -1, 1}, "[+1] [-1] [ 1] [-1] [+1]"},
		{"[%+05d] [% 05d]", []int64{1, 1}, "[+0001] [ 0001]"},
		{"[%.0d] [%.d] [%3.0d] [%.0d]", []int64{0, 0, 0, 1}, "[] [] [   ] [1]"},
		{"[%+u]", []int64{1}, "[1]"},
		{"[%o] [%#o] [%#o] [%#.0o] [%#.3o]", []int64{8, 8, 0, 0, 8}, "[10] [010] [0] [0] [010]"},
		{"[%x] [%X] [%#x] [%#X] [%#x]", []int64{171, 171, 171, 171, 0}, "[ab] [AB] [0xab] [0XAB] [0]"},
		{"[%8x] [%08x] [%#8x] [%#08x] [%#-8x] [%#.4x]", []int64{171, 171, 171, 171, 171, 171},
			"[      ab] [000000ab] [    0xab] [0x0000ab] [0xab    ] [0x00ab]"},

		{"[%c] [%3c] [%-3c]", []int64{'a', 'b', 'c' + 256}, "[a] [  b] [c  ]"},
		{"%c", []int64{0}, "\x00"},
		{"[%s] [%7s] [%-7s] [%.2s] [%4.2s] [%.9s]", []int64{0x1000, 0x1000, 0x1000, 0x1000, 0x1000, 0x1000},
			"[hello] [  hello] [hello  ] [he] [  he] [hello]"},
		{"%s %.2s", []int64{0, 0}, "(null) (n"},
		{"[%ls] [%6ls] [%.3ls] [%.2ls] [%ls]", []int64{0x2000, 0x2000, 0x2000, 0x2000, 0}, "[grün] [ grün] [gr] [gr] [(null)]"},
		{"[%lc] [%3lc] [%-3lc]", []int64{'a', 'ü', 0x20ac}, "[a] [ ü] [€]"},
		{"%p %p [%10p] [%-8p]", []int64{0x1000, 0, -1, 1}, "0x1000 (nil) [0xffffffffffffffff] [0x1     ]"},

		{`\a\b\e\f\n\r\t\v\\\"\'\?`, nil, "\a\b\x1b\f\n\r\t\v\\\"'?"},
		{`\0\12\1012\377\8`[:14], nil, "\x00\nA2\xff"},
		{`\x41\x7e\xfFf`, nil, "A~\xfff"},
		{`\45d`, []int64{7}, "7"},
		{`%\144`, []int64{7}, "7"},
		{"\xff\x00é", nil, "\xff\x00é"},
	}
	for _, test := range tests {
		got, err := FormatPrintf(test.format, test.args, readTestString)
		if err != nil || got != test.want {
			t.Errorf("FormatPrintf(%q, %d) = %q, %v, want %q", test.format, test.args, got, err, test.want)
		}
	}
}

func TestFormatPrintfRefuses(t *testing.T) {
	tests := []struct {
		format string
		args   []int64
		want   string
	}{
		{"%d", nil, `printf format "%d": takes 1 arguments, 0 given`},
		{"%d", []int64{1, 2}, `printf format "%d": takes 1 arguments, 2 given`},
		{"a%%", []int64{1}, `printf format "a%%": takes 0 arguments, 1 given`},
		{"%s %d", []int64{7}, `printf format "%s %d": takes 2 arguments, 1 given`},
		{"%d %s", []int64{7, 7}, `printf format "%d %s": argument 2: string at 0x7: no such page`},
		{"50%", nil, `printf format "50%": conversion "%": ends early, want one of d i u o x X c s p`},
		{"%-5", nil, `printf format "%-5": conversion "%-5": ends early, want one of d i u o x X c s p`},
		{"%ll", nil, `printf format "%ll": conversion "%ll": ends early, want one of d i u o x X c s p`},
		{"%f", []int64{1}, `printf format "%f": conversion "%f": 'f' is not one of d i u o x X c s p`},
		{"%Lf", []int64{1}, `printf format "%Lf": conversion "%L": 'L' is not one of d i u o x X c s p`},
		{"%n", []int64{1}, `printf format "%n": conversion "%n": 'n' is not one of d i u o x X c s p`},
		{"%*d", []int64{1, 2}, `printf format "%*d": conversion "%*": '*' is not one of d i u o x X c s p`},
		{"%5%", nil, `printf format "%5%": conversion "%5%": '%' is not one of d i u o x X c s p`},
		{"%hc", []int64{1}, `printf format "%hc": conversion "%hc": 'c' takes no length h`},
		{"%lls", []int64{1}, `printf format "%lls": conversion "%lls": 's' takes no length ll`},
		{"%lp", []int64{1}, `printf format "%lp": conversion "%lp": 'p' takes no length l`},
		{"%4097d", []int64{1}, `printf format "%4097d": conversion "%409": width or precision over 4096`},
		{"%.99999999999999999999d", []int64{1},
			`printf format "%.99999999999999999999d": conversion "%.999": width or precision over 4096`},
		{`a\q`, nil, `printf format "a\\q": bad escape "\\q" at offset 1`},
		{`a\`, nil, `printf format "a\\": bad escape "\\" at offset 1`},
		{`\xg`, nil, `printf format "\\xg": bad escape "\\x" at offset 0`},
		{`\8`, nil, `printf format "\\8": bad escape "\\8" at offset 0`},
	}
	for _, test := range tests {
		got, err := FormatPrintf(test.format, test.args, readTestString)
		if err == nil || err.Error() != test.want {
			t.Errorf("FormatPrintf(%q, %d) = %q, error\n%v, want\n%s", test.format, test.args, got, err, test.want)
		}
	}
}

func TestFormatPrintfWidest(t *testing.T) {
	got, err := FormatPrintf("%4096d", []int64{7}, readTestString)
	if want := strings.Repeat(" ", 4095) + "7"; err != nil || got != want {
		t.Errorf("%d bytes, %v, want %d", len(got), err, len(want))
	}
}

// TestPrecisionBoundsReading holds that a string without an end is read no farther than a precision asks for.
func TestPrecisionBoundsReading(t *testing.T) {
	for format, want := range map[string]int{"%s": MaxString, "%.3s": 3, "%.0s": 0, "%.4096s": MaxString, "%9ls": MaxString} {
		_, err := FormatPrintf(format, []int64{1}, func(_ arch.Addr, _ bool, limit int) (string, error) {
			if limit != want {
				t.Errorf("%s reads up to %d, want %d", format, limit, want)
			}
			return "", nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}

func TestCheckPrintf(t *testing.T) {
	program := func(count uint64, format string) *Program {
		var code []byte
		for range count + 2 {
			code = append(code, byte(OpConst8), 0)
		}
		code, err := Instruction{Op: OpPrintf, Operand: count, Format: format}.Append(code)
		if err != nil {
			t.Fatal(err)
		}
		p, err := Decode(append(code, byte(OpEnd)))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	for _, test := range []struct {
		count  uint64
		format string
		want   string // "" for no error
	}{
		{0, "plain", ""},
		{2, `%d %ls\n`, ""},
		{1, "%d\x00%f", ""}, // C sees no more than the part before the NUL
		{1, "%f", `printf failed: printf at offset 6: printf format "%f": conversion "%f": 'f' is not one of d i u o x X c s p`},
		{1, "%d %d", `printf failed: printf at offset 6: printf format "%d %d": takes 2 arguments, 1 given`},
	} {
		err := program(test.count, test.format).CheckPrintf()
		if (err == nil) != (test.want == "") || err != nil && err.Error() != test.want {
			t.Errorf("%q with %d arguments: %v, want %q", test.format, test.count, err, test.want)
		}
	}
}
