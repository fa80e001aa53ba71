package symbol

import (
	"strconv"
	"strings"

	"tracewell/arch"
)

// locateAddress finds the one address that a sum gives: *main+4, *&push, *0x4011b5, *'queue.c'::push - 2. A function in it
// stands for where it begins.
func (p *Program) locateAddress(s *spec) ([]Location, error) {
	text := s.address
	var sum arch.Addr
	negative, at := false, 0
	// Terms are summed from left to right. Only + and - join them; GDB would evaluate any expression of the language here.
	for {
		begin := at
		for begin < len(text) && (text[begin] == ' ' || text[begin] == '&') {
			begin++
		}
		end := termEnd(text, begin)
		term := strings.TrimSpace(text[begin:end])
		value, err := p.term(s, term, s.addressAt+begin)
		if err != nil {
			return nil, err
		}
		if negative {
			value = -value
		}
		sum += value
		if end == len(text) {
			break
		}
		negative, at = text[end] == '-', end+1
	}
	return []Location{p.At(sum)}, nil
}

// termEnd returns where a term of a sum ends.
// A sign within brackets or quotes belongs to the term: operator-, a template argument of -1.
func termEnd(text string, at int) int {
	for at < len(text) && text[at] != '+' && text[at] != '-' {
		switch text[at] {
		case '(', '\'', '<':
			at = max(closing(text, at), quoteEnd(text, at))
		default:
			at++
		}
	}
	return at
}

// term is a number, or a function's address.
func (p *Program) term(s *spec, term string, at int) (arch.Addr, error) {
	for strings.HasPrefix(term, "(") && closing(term, 0) == len(term) {
		term = strings.TrimSpace(strings.TrimPrefix(term[1:len(term)-1], "&"))
	}
	if value, err := strconv.ParseUint(term, 0, 64); err == nil {
		return arch.Addr(value), nil
	}
	if term == "" || !isWord(term[0]) && term[0] != '\'' && term[0] != ':' || '0' <= term[0] && term[0] <= '9' {
		return 0, s.fail(at, at+len(term), "an address or a function is expected")
	}
	// 'queue.c'::push names the function of that file, as in GDB's expressions.
	of := &spec{text: s.text, function: unquoted(term)}
	if quoted, rest, ok := strings.Cut(term, "'::"); ok {
		of.file, of.function = strings.TrimPrefix(quoted, "'"), rest
	}
	// An inlined copy has no address of its own that a pointer to the function could hold.
	for _, c := range p.functionPlaces(of) {
		if c.block == nil || !c.block.function.inlined {
			return c.begin() + c.object.bias, nil
		}
	}
	return 0, p.noFunction(of)
}
