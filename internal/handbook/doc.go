// Package handbook runs what the documentation shows: the commands of the guides, the READMEs and the examples with a
// real CLI, and the scripts of the CI examples. It also follows the links.
//
// A hidden line of a page, <!-- run COMMAND --> or <!-- check COMMAND -->, runs a command that readers do not see, with
// the functions of testdata/functions.sh. testdata/stories has further commands for each example.
//
// It contains only tests.
package handbook
