// Package handbook is a reader who believes what is written: it saves each file,
// runs each command and compares each answer that the guides, the examples and
// the READMEs show, with a real CLI, and follows each link.
//
// It consists of tests alone.
package handbook
