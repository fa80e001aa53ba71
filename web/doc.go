// Package web serves a page that shows a recording in a browser, or writes it as one file that needs no server.
//
// # Subjects
//
// What a page is about is a Subject: a trace file (web/frames), a comparison of two execution traces (web/comparison), an
// execution trace (web/execution). The page asks questions, each a name with arguments, and a Subject answers with a value of
// view/wire that is sent as JSON. A Subject knows nothing of HTTP, and the page computes nothing that the command line does not
// print, so that both are tested by the same values. Two questions are answered here for all Subjects: "page" (wire.Page),
// which is the first one, and "changed", whose answer waits until a Live subject has more than the page has seen.
//
// A page that is written as one file carries the answers to the questions that Subject.Static lists, as whole as they are asked
// for: a question with other arguments has no answer there. So questions about many rows are asked in blocks of a fixed size.
//
// # Assets
//
// The page is plain ES modules in assets, one for each view, without a build step. index.html loads app.js, which asks for
// "page" and hands over to the module of its kind. An import is always written as
//
//	import { name } from "./module.js"
//
// on one line, because a page of one file carries modules as data: URLs, in which WritePage replaces relative names by bare ones.
// assets/vendor has the libraries of others unchanged; vendored.txt lists their checksums and licences.
//
// # What is kept out
//
// A recording, and the program in it, may come from anyone, and the loopback interface is open to every user and every web page
// of the machine. Hence:
//
//   - The address of the page contains a random token; without it everything is "not found".
//   - The Host header has to be the address that the server listens on. Otherwise a foreign name that resolves to the
//     loopback address (DNS rebinding) would make the page part of a foreign site. Requests that a browser marks as made for
//     another site are refused, as is every method but GET and HEAD.
//   - The Content-Security-Policy allows scripts, styles and requests of this origin only, and no inline ones. Names and
//     values are put into the page as text. No address leaves it (Referrer-Policy).
//   - A client names no file. Source files are offered by number (web/sources).
package web
