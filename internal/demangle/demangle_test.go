package demangle

import "testing"

func TestSource(t *testing.T) {
	for symbol, want := range map[string]string{
		"push":                                  "",
		"_Z4pushi":                              "push(int)",
		"_ZN3geo4RingIiLi3EE3putERKi":           "geo::Ring<int, 3>::put(int const&)",
		"_ZNK3geo6Square4areaEv":                "geo::Square::area() const",
		"_Z7largestIlET_S0_S0_":                 "largest<long>(long, long)",
		"_ZZL8capturediENKUliE_clEi":            "captured(int)::{lambda(int)#1}::operator()(int) const",
		"_ZN4main7generic17ha9cf61946c1dae35E":  "main::generic",
		"_RNvNtCs1234_7mycrate3foo3bar":         "mycrate::foo::bar",
		"_Znonsense":                            "",
		"_ZN4core3ptr13drop_in_place17h0123456": "",
	} {
		got, ok := Source(symbol)
		if got != want || ok != (want != "") {
			t.Errorf("%s is %q, %v; want %q", symbol, got, ok, want)
		}
	}
}
