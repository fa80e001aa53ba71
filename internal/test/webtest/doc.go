// Package webtest has pages of package web shown by a real browser, which the DevTools protocol drives: what is in the document, what
// the keyboard does, what is drawn, and what the browser complains of.
package webtest
