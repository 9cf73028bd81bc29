package handbook_test

import (
	"go/ast"
	"regexp"
	"slices"
	"strconv"
)

// formats are the functions whose first argument says what the others come to.
var formats = map[string]bool{"fmt.Sprintf": true, "fmt.Errorf": true}

// verbPattern is a place in a format for an argument.
var verbPattern = regexp.MustCompile(`%[-+# 0]*(?:\d+)?(?:\.\d+)?(?:\[(\d+)\])?([a-zA-Z%])`)

func (r *reading) readFormat(u *unit, call *ast.CallExpr, c *choice, depth int) []thread {
	var threads []thread
	for _, format := range r.read(u, call.Args[0], c, depth) {
		done := []thread{{"", format.choices}}
		next, rest := 1, format.text
		for _, at := range verbPattern.FindAllStringSubmatchIndex(format.text, -1) {
			verb := format.text[at[4]:at[5]]
			before := format.text[len(format.text)-len(rest) : at[0]]
			rest = format.text[at[1]:]
			if verb == "%" {
				done = appended(done, before+"%")
				continue
			}
			if at[2] >= 0 {
				next, _ = strconv.Atoi(format.text[at[2]:at[3]]) //nolint:errcheck // digits
			}
			done = r.appendArgument(u, call, next, verb, appended(done, before), depth)
			next++
		}
		threads = append(threads, appended(done, rest)...)
	}
	return r.bounded(threads)
}

func appended(threads []thread, text string) []thread {
	for i := range threads {
		threads[i].text += text
	}
	return threads
}

// appendArgument puts what an argument comes to behind each text.
func (r *reading) appendArgument(u *unit, call *ast.CallExpr, argument int, verb string, threads []thread, depth int) []thread {
	var longer []thread
	for _, t := range threads {
		values := []thread{{variable, t.choices}}
		if argument < len(call.Args) && slices.Contains([]string{"s", "v", "d"}, verb) {
			values = r.read(u, call.Args[argument], t.choices, depth+1)
		}
		for _, v := range values {
			if verb == "q" {
				v.text = `"` + v.text + `"`
			}
			longer = append(longer, thread{t.text + v.text, v.choices})
		}
	}
	return r.bounded(longer)
}
