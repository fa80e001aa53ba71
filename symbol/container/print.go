package container

import (
	"bytes"
	"cmp"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"tracewell/symbol/ctype"
)

// mostShown is how many elements are written: GDB's "print elements".
const mostShown = 200

// Unfold writes values of containers in the place of a ctype.Printer, as GDB writes them with the printers that come with the
// libraries; of Go it writes all values, as Delve does.
func (s *Shapes) Unfold(p ctype.Printer, dst []byte, v ctype.Value, depth int) ([]byte, bool) {
	if p.Language == ctype.Go {
		return s.golang(p, dst, v, depth)
	}
	shape := s.Of(v.Type, p.Language)
	if shape == nil || p.Memory == nil || len(v.Holes) > 0 {
		return dst, false
	}
	c := shape.Read(v, p.Order, p.Memory)
	switch {
	case shape.Form == Text:
		return shape.text(p, dst, c), true
	case shape.Form == Path && len(c.Elements) == 1:
		return p.AppendWithin(append(append(dst, shape.Name...), ' '), c.Elements[0].Value, depth), true
	case shape.Form == Wrapping && len(c.Elements) == 1:
		return p.AppendWithin(append(append(dst, shape.Name...), " wrapping: "...), c.Elements[0].Value, depth), true
	}
	if shape.Form == Pointer && shape.style == ctype.Rust {
		return dst, false // GDB's printers show the address of a box as of any pointer
	}
	if shape.Form == Dyn {
		return shape.dyn(p, append(append(dst, shape.Name...), " = "...), c, depth), true
	}
	if (shape.Form == Optional || shape.Form == Variant) && len(c.Elements) == 1 {
		if inner := s.Of(c.Elements[0].Value.Type, p.Language); inner != nil && inner.Form != Text {
			return p.AppendWithin(append(shape.title(dst, c), " containing "...), c.Elements[0].Value, depth), true
		}
	}
	if dst = shape.title(dst, c); shape.Form != Members {
		dst = append(dst, " = "...)
	}
	if len(c.Elements) == 0 && c.Rest == "" && shape.Form != Pointer {
		return bytes.TrimSuffix(dst, []byte(" = ")), true
	}
	return shape.list(p, append(dst, '{'), c, depth), true
}

// text writes the characters that there are, and why there are no more.
func (s *Shape) text(p ctype.Printer, dst []byte, c Contents) []byte {
	b := make([]byte, 0, len(c.Elements)*s.Elem.Size)
	for _, e := range c.Elements {
		b = append(b, e.Value.Bytes...)
	}
	if c.Rest != "" && len(b) == 0 {
		return append(dst, s.Rest(c)...)
	}
	dst = p.AppendText(dst, s.Elem, b, c.Rest != "")
	if len(c.Elements) < mostShown {
		dst = append(dst, s.Rest(c)...)
	}
	return dst
}

// Rest is what stands behind the elements, in the words of the form; "" if these are all.
func (s *Shape) Rest(c Contents) string {
	if s.Form == Text {
		return strings.Replace(c.Rest, "element", "character", 1)
	}
	return c.Rest
}

// WholeRunes is a text in UTF-8 without a character at its end of which not all bytes are there.
func WholeRunes(text []byte) []byte {
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if start := len(text) - n; utf8.RuneStart(text[start]) {
			if !utf8.FullRune(text[start:]) {
				return text[:start]
			}
			break
		}
	}
	return text
}

// title writes what stands in front of the elements.
func (s *Shape) title(dst []byte, c Contents) []byte {
	name := s.Name
	if c.Count < 0 {
		return append(dst, name...)
	}
	switch {
	case s.Form == Shared && len(c.Figures) == 0:
		return append(dst, name...)
	case s.Form == Shared:
		return append(s.owned(append(append(dst, name...), '('), c, "="), ')')
	case s.style == ctype.Rust:
		return append(strconv.AppendInt(append(append(dst, name...), "(size="...), int64(c.Count), 10), ')')
	}
	switch s.Form {
	case Sequence, Tuple:
		if c.Count == 0 && c.Rest == "" {
			return append(append(dst, "empty "...), name...)
		}
		if dst = append(dst, name...); s.Form == Tuple {
			dst = append(dst, " containing"...)
		}
		return dst
	case Array, Bits:
		dst = append(append(dst, name...), " of length "...)
		dst = strconv.AppendInt(dst, int64(c.Count), 10)
		if len(c.Figures) > 0 {
			dst = s.owned(append(dst, ", "...), c, " ")
		}
		return dst
	case Set, Map, Row:
		return append(append(append(dst, name...), " with "...), elementsOf(c.Count)...)
	case Optional:
		if dst = append(dst, name...); len(c.Elements) == 0 && c.Rest == "" {
			dst = append(dst, " [no contained value]"...)
		}
		return dst
	case Variant:
		if dst = append(dst, name...); len(c.Elements) == 0 && c.Rest == "" {
			return append(dst, " [no contained value]"...)
		}
		for _, f := range c.Figures {
			dst = append(f.append(append(dst, " [index "...)), ']')
		}
		return dst
	}
	return s.owners(append(dst, name...), c)
}

// owned writes the figures, each behind its word.
func (s *Shape) owned(dst []byte, c Contents, separator string) []byte {
	for i, f := range c.Figures {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		if f.Word == "borrow" && f.Value < 0 && separator == "=" { // GDB has another word in the title
			f.Word, f.Value = "borrow_mut", -f.Value
		}
		dst = f.append(append(append(dst, f.Word...), separator...))
	}
	return dst
}

// append writes the number, or that it is not known.
func (f Figure) append(dst []byte) []byte {
	if !f.Known {
		return append(dst, notCollected("")...)
	}
	return strconv.AppendInt(dst, f.Value, 10)
}

// owners writes how many pointers share what a shared pointer points to. The library counts all owners together for a weak one.
func (s *Shape) owners(dst []byte, c Contents) []byte {
	if len(c.Figures) != 2 {
		return dst
	}
	use, weak := c.Figures[0], c.Figures[1]
	switch {
	case !use.Known || !weak.Known:
		return append(append(append(dst, " ("...), notCollected("use count")...), ')')
	case use.Value == 0 && weak.Value == 0:
		return append(dst, " (empty)"...)
	case use.Value == 0:
		dst = append(dst, " (expired, weak count "...)
		return append(strconv.AppendInt(dst, weak.Value, 10), ')')
	}
	dst = append(strconv.AppendInt(append(dst, " (use count "...), use.Value, 10), ", weak count "...)
	return append(strconv.AppendInt(dst, weak.Value-1, 10), ')')
}

// list writes the elements, and the brace behind them.
func (s *Shape) list(p ctype.Printer, dst []byte, c Contents, depth int) []byte {
	if s.Form == Pointer {
		return append(p.AppendValue(append(dst, "get() = "...), c.Target), '}')
	}
	for i, e := range c.Elements {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		if i == mostShown {
			return append(dst[:len(dst)-len(", ")], "...}"...)
		}
		switch {
		case s.Form == Shared:
			dst = append(dst, "value = "...)
		case s.Form == Map:
			dst = s.pair(p, dst, e.Value, depth)
			continue
		case s.Form == Sequence || s.Form == Set:
			dst = append(strconv.AppendInt(append(dst, '['), int64(i), 10), "] = "...)
		case e.Name != "":
			dst = append(append(dst, e.Name...), " = "...)
		}
		dst = p.AppendWithin(dst, e.Value, depth+1)
	}
	if c.Rest != "" {
		if len(c.Elements) > 0 {
			dst = append(dst, ", "...)
		} else if s.Form == Shared {
			dst = append(dst, "value = "...)
		}
		dst = append(dst, c.Rest...)
	}
	if s.Form == Shared && len(c.Figures) > 0 {
		if len(c.Elements) > 0 || c.Rest != "" {
			dst = append(dst, ", "...)
		}
		dst = s.owned(dst, c, " = ")
	}
	return append(dst, '}')
}

// dyn writes the value that a dyn stands for.
func (s *Shape) dyn(p ctype.Printer, dst []byte, c Contents, depth int) []byte {
	if len(c.Elements) == 0 {
		return append(dst, cmp.Or(c.Rest, "null")...)
	}
	return p.AppendWithin(dst, c.Elements[0].Value, depth+1)
}

// pair writes an element of a map: [key] = value.
func (s *Shape) pair(p ctype.Printer, dst []byte, v ctype.Value, depth int) []byte {
	key, value := Pair(v)
	dst = append(p.AppendWithin(append(dst, '['), key, depth+1), "] = "...)
	return p.AppendWithin(dst, value, depth+1)
}

// Pair takes the two members of an element of a map.
func Pair(v ctype.Value) (key, value ctype.Value) {
	var parts []ctype.Value
	for _, f := range v.Type.Fields() {
		if plain(f) && !f.Base {
			parts = append(parts, v.Part(f.Type, f.Offset))
		}
	}
	if len(parts) < 2 {
		return v, v
	}
	return parts[0], parts[1]
}

// defaults are arguments of templates that GDB leaves away.
var defaults = []string{
	"std::allocator<", "std::char_traits<", "std::default_delete<", "std::less<", "std::equal_to<", "std::hash<",
}

// literal matches a number in the arguments of a template, whose type GDB writes in small letters.
var literal = regexp.MustCompile(`\b[0-9]+(U|L|UL|LL|ULL)\b`)

// brief is the name of a type without arguments that are usually not written, and with std::string for what it stands for. GDB has
// no such names for pairs and for templates that are not of the library.
func brief(name string) string {
	name = strings.ReplaceAll(name, "std::__1::", "std::")
	if !strings.HasPrefix(name, "std::") || strings.HasPrefix(name, "std::pair<") {
		return name
	}
	for _, word := range defaults {
		for {
			from := strings.Index(name, ", "+word)
			if from < 0 {
				break
			}
			end, open := from, 0
			for end < len(name) {
				if name[end] == '<' {
					open++
				} else if name[end] == '>' {
					if open--; open == 0 {
						break
					}
				}
				end++
			}
			name = name[:from] + strings.TrimPrefix(name[min(end+1, len(name)):], " ")
		}
	}
	name = literal.ReplaceAllStringFunc(name, strings.ToLower)
	return strings.NewReplacer("long unsigned int", "unsigned long", "long int", "long",
		"std::__cxx11::basic_string<char>", "std::string", "std::basic_string<char>", "std::string",
		"std::basic_string_view<char>", "std::string_view",
		"std::__cxx11::", "std::").Replace(name)
}
