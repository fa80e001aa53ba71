package tdesctest

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tracewell/tdesc"
	"tracewell/tdesc/machine"
)

// sharers makes descriptions whose features define types under the same few names.
type sharers struct{ *rand.Rand }

// ids are the names: of no type that GDB gives, of some that it looks for among registers, and of some that it does not.
var ids = []string{"t0", "t1", "t2", "v4f", "i387_ext", "ieee_double", "int32", "uint128"}

// basic are the types that members and elements have where none is defined yet.
var basic = []string{"int8", "int16", "int32", "int64", "uint128", "ieee_single", "ieee_double", "i387_ext", "bfloat16", "data_ptr"}

func (r sharers) pick(list []string) string { return list[r.IntN(len(list))] }

// definition is a type of some kind that refers to others.
func (r sharers) definition(id string, others []string) string {
	switch size := 1 + r.IntN(9); r.IntN(6) {
	case 0, 1:
		return fmt.Sprintf("<vector id='%s' type='%s' count='%d'/>", id, r.pick(others), 1+r.IntN(4))
	case 2:
		return fmt.Sprintf("<struct id='%s'><field name='a' type='%s'/><field name='b' type='%s'/></struct>", id, r.pick(others), r.pick(others))
	case 3:
		return fmt.Sprintf("<union id='%s'><field name='a' type='%s'/><field name='b' type='%s'/></union>", id, r.pick(others), r.pick(others))
	case 4:
		return fmt.Sprintf("<flags id='%s' size='%d'><field name='a' start='%d' end='%[3]d'/></flags>", id, size, r.IntN(min(8*size, 64)))
	default:
		return fmt.Sprintf("<enum id='%s' size='%d'><evalue name='a' value='%d'/></enum>", id, size, r.IntN(9))
	}
}

// feature has types, and registers of these types, of those that GDB gives, and of none.
func (r sharers) feature(name string, registers []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<feature name='%s'>\n", name)
	known := basic
	var defined []string
	for _, i := range r.Perm(len(ids))[:1+r.IntN(5)] {
		if id := ids[i]; !strings.Contains(b.String(), "'"+id+"'") { // it has not been used yet
			others := slices.DeleteFunc(slices.Clone(known), func(name string) bool { return name == id })
			b.WriteString(r.definition(id, others) + "\n")
			known, defined = append(known[:len(known):len(known)], id), append(defined, id)
		}
	}
	for _, register := range registers {
		typ := r.pick(known)
		if r.IntN(3) > 0 {
			typ = r.pick(defined)
		}
		fmt.Fprintf(&b, "<reg name='%s' bitsize='64' type='%s'/>\n", register, typ)
	}
	b.WriteString("</feature>\n")
	return b.String()
}

// core is the registers that m68k needs, in GDB's order, which may have any type.
var core = strings.Fields("d0 d1 d2 d3 d4 d5 d6 d7 a0 a1 a2 a3 a4 a5 fp sp ps pc")

// description is one for m68k, or for x86-64, whose registers have types that GDB looks for.
func (r sharers) description() string {
	architecture, features := "m68k", []string{r.feature("org.gnu.gdb.m68k.core", core)}
	if r.IntN(2) == 0 {
		amd64 := string(machine.AMD64{AVX: true}.Target().XML())
		architecture, features = "i386:x86-64", nil
		for _, f := range strings.Split(amd64, "<feature")[1:] {
			f, _, _ = strings.Cut(f, "</feature>")
			features = append(features, "<feature"+f+"</feature>")
		}
	}
	for i := range 1 + r.IntN(3) {
		registers := []string{"a", "b", "c", "d"}[:1+r.IntN(4)]
		for j := range registers {
			registers[j] = fmt.Sprintf("%s_%d", registers[j], i)
		}
		features = append(features, r.feature(fmt.Sprintf("f%d", i), registers))
	}
	r.Shuffle(len(features), func(i, j int) { features[i], features[j] = features[j], features[i] })
	doc := "<target><architecture>" + architecture + "</architecture>\n" + strings.Join(features, "") + "</target>\n"
	return regnum.ReplaceAllString(doc, "") // those of x86-64 would be those of others
}

var regnum = regexp.MustCompile(` regnum="[0-9]+"`)

// TestSharedTypes has GDB place the registers of features that define types under the same names, in whatever order.
func TestSharedTypes(t *testing.T) {
	const documents = 80
	r := sharers{rand.New(rand.NewPCG(13, 1))}
	var all []described
	shared := 0
	for i := range documents {
		doc := r.description()
		target, _, err := tdesc.Parse([]byte(doc), nil)
		if err != nil {
			t.Fatalf("%v\n%s", err, doc)
		}
		layout, err := target.Layout()
		if err != nil {
			t.Fatal(err)
		}
		for _, slot := range layout.Slots {
			if slot.Shared {
				shared++
			}
		}
		all = append(all, described{name: fmt.Sprintf("%d", i), target: target})
	}
	if shared < documents {
		t.Errorf("%d registers of %d descriptions have types that are not their own", shared, documents)
	}
	comparePlaces(t, all...)
}
