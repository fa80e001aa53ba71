package trace

import (
	"errors"
	"reflect"
	"testing"

	"tracewell/rsp"
)

// FuzzParse feeds one text to every parser. None may panic; what one refuses must be a syntax error inside the text; what
// one takes must, printed and read again, give the same value.
func FuzzParse(f *testing.F) {
	for _, text := range append(append([]string{
		"2:0000000000401131:E:0:0:F5:X2,2227-",
		"2:401131:SM-1,404020,4M-1,404030,10X00000001,27-",
		"2:401131:at:3:8:666f6f",
		"3:fffffffffffffffb:0:6e6567",
		"0;tstop:627965:0;tframes:b;circular:0;username:;notes:68656c6c6f:",
		"0;terror:6469762030:1f;zz:1",
		"R0103M1A,fffffffffffffff8,4L",
	}, workPieces...), pushPieces...) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for name, parse := range parsers {
			var syntax *rsp.SyntaxError
			if err := parse(text); err != nil && (!errors.As(err, &syntax) || syntax.Offset > len(text)) {
				t.Errorf("%s %q: error %v", name, text, err)
			}
		}
		for name, again := range roundTrips {
			if first, second, ok := again(text); ok && !reflect.DeepEqual(first, second) {
				t.Errorf("%s %q: read as %+v, printed and read again as %+v", name, text, first, second)
			}
		}
	})
}

// roundTrips parse a text, print the value and parse that. ok is false if the text did not parse in the first place.
var roundTrips = map[string]func(text string) (first, second any, ok bool){
	"QTDP": func(text string) (any, any, bool) {
		first, _, err := ParseQTDP(text)
		second, _, _ := ParseQTDP(first.Packets()[0][len("QTDP:"):])
		return first, second, err == nil
	},
	"actions": func(text string) (any, any, bool) {
		first, err := ParseActions(text)
		var printed []byte
		for _, a := range first {
			printed = a.AppendText(printed)
		}
		second, _ := ParseActions(string(printed))
		return first, second, err == nil
	},
	"QTDPsrc": func(text string) (any, any, bool) {
		first, err := ParseQTDPSource(text)
		second, _ := ParseQTDPSource(first.String())
		return first, second, err == nil
	},
	"variable": func(text string) (any, any, bool) {
		first, err := ParseVariable(text)
		second, _ := ParseVariable(first.String())
		return first, second, err == nil
	},
	"status": func(text string) (any, any, bool) {
		first, err := ParseStatus(text)
		second, _ := ParseStatus(first.String())
		return first, second, err == nil
	},
}
