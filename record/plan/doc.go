// Package plan says what is to be traced, as its user says it: tracepoints with locations, conditions and actions in text, and
// trace state variables. It reads options of a command line and scripts for GDB, and writes such scripts.
//
// A Plan is plain data. The package knows neither programs nor symbols: what a location or an expression means is the
// business of those who carry a plan out. Each text knows where its user typed it, so that these can say what is wrong with
// it there.
//
// # Scripts
//
// A script is what GDB's "save tracepoints" writes and what people write by hand. Commands can be abbreviated where GDB allows
// it; lines that begin with # are comments; a backslash joins a line with the next.
//
//	tvariable $NAME [= EXPR]
//	trace|ftrace|strace LOCATION [if CONDITION]
//	actions [N] … end        commands [N…] … end
//	collect[/s[LENGTH]] EXPR, …
//	teval EXPR, …
//	while-stepping N … end
//	condition N [CONDITION]
//	passcount COUNT [N|all]
//	enable|disable|delete [N…]
//	set default-collect|trace-notes|trace-user|trace-stop-notes|circular-trace-buffer|trace-buffer-size VALUE
//
// N is a number of a tracepoint in this script, counting from 1, or $bpnum or $tpnum, which are the last one. Commands that do
// nothing to a trace, such as "set pagination off" and "echo", are passed over; any other is an error.
//
// # Options
//
// Each --at makes a tracepoint. The options that follow belong to it, and to those of the --at directly in front of it: in
//
//	--at push --at pop --collect $args --at main.c:30 --collect i --pass 5
//
// the arguments are collected in push and in pop, and i in line 30. Options in front of the first --at hold for all that
// follow: what they collect and set comes before each tracepoint's own, and a condition, a pass count and steps hold where a
// tracepoint has none of its own.
package plan
