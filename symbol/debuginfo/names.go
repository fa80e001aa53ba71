package debuginfo

import "bytes"

var operatorWord = []byte("operator")

// angled are the operators that have angle brackets in their names; longer ones first.
var angled = []string{"<=>", "<<=", ">>=", "->*", "<<", ">>", "<=", ">=", "->", "<", ">"}

// baseName is a name without template arguments: vector of vector<int>, operator<< of operator<< <int>. What is written in such
// brackets from the beginning, as the names of lambdas are, stays.
func baseName(name []byte) []byte {
	from := 1
	if bytes.HasPrefix(name, operatorWord) {
		from = len(operatorWord)
		for _, operator := range angled {
			if bytes.HasPrefix(name[from:], []byte(operator)) {
				from += len(operator)
				break
			}
		}
	}
	if i := bytes.IndexByte(name[min(from, len(name)):], '<'); i >= 0 {
		return bytes.TrimRight(name[:from+i], " ")
	}
	return name
}

// splitName cuts a qualified name into its parts: ns::list<a::b>::push into ns, list<a::b>, push. Colons in brackets of any kind
// do not count.
func splitName(name string) []string {
	var parts []string
	depth, begin := 0, 0
	for i := 0; i < len(name); i++ {
		switch name[i] {
		case '<', '(', '{', '[':
			depth++
		case '>', ')', '}', ']':
			depth = max(depth-1, 0)
		case 'o':
			if hasOperator(name, begin, i) {
				return append(parts, name[begin:])
			}
		case ':':
			if depth == 0 && i+1 < len(name) && name[i+1] == ':' {
				parts = append(parts, name[begin:i])
				i++
				begin = i + 1
			}
		}
	}
	return append(parts, name[begin:])
}

// hasOperator reports whether a part begins at i with the word operator: what follows is the operator's name, brackets and all.
func hasOperator(name string, begin, i int) bool {
	if i != begin || len(name)-i <= len(operatorWord) || name[i:i+len(operatorWord)] != string(operatorWord) {
		return false
	}
	next := name[i+len(operatorWord)]
	return next != '_' && (next < '0' || next > '9') && (next < 'A' || next > 'Z') && (next < 'a' || next > 'z')
}

// sameName reports whether a part of a name that a user gives is a name of the debug information: spaces do not count, nor do
// template arguments where the user gives none.
func sameName(wanted string, name []byte) bool {
	return equalSpaced(wanted, name) || equalSpaced(wanted, baseName(name))
}

func equalSpaced(wanted string, name []byte) bool {
	i, j := 0, 0
	for {
		for i < len(wanted) && wanted[i] == ' ' {
			i++
		}
		for j < len(name) && name[j] == ' ' {
			j++
		}
		if i == len(wanted) || j == len(name) {
			return i == len(wanted) && j == len(name)
		}
		if wanted[i] != name[j] {
			return false
		}
		i, j = i+1, j+1
	}
}
