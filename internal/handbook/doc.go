// Package handbook tests the documentation: it follows the guides, the examples and the READMEs with a real CLI,
// compares their output with what they show, and checks their links.
//
// It contains only tests.
package handbook
