// Package filter evaluates conditions in C syntax over named values, such as those that a frame of a trace holds:
//
//	j->id > 5 && $rip == 0x401131
//	*(unsigned char *)($rsp + 8) == 'x'
//
// It knows the operators of C that do not change anything, with C's precedence, C's literals, casts, members, indexes, sizeof,
// and GDB's {type} address and value @ count. Numbers have the types of C: an integer narrower than an int becomes one, an
// operation is signed, unsigned or in floating point by the types of its operands, and integers wrap around. The value of the
// whole is an integer; long double is not computed with.
//
// What names mean is for a Scope to say when an expression is compiled, and what they hold for an Env each time it is
// evaluated. Any part of an expression can be a name: where a scope has a value under "j->id", no pointer is followed.
//
// A value may be unavailable, and so is what is computed of it; but "unavailable || 1" is 1 and "unavailable && 0" is 0.
// Division by zero is unavailable too. Evaluating never fails and allocates nothing; what is wrong with an expression is
// found when it is compiled. A compiled expression does not change and may be evaluated by several goroutines.
package filter
