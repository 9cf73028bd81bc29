package cli

import "strings"

// maxTypos is how many characters a mistyped word can differ from the meant one.
const maxTypos = 2

// didYouMean returns ": did you mean WORD?" with the known word that a mistyped one begins or resembles most; empty if
// there is none.
func didYouMean(word string, known []string) string {
	best, least := "", min(maxTypos+1, len(word))
	for _, candidate := range known {
		typos := editDistance(word, candidate)
		if strings.HasPrefix(candidate, word) {
			typos = min(typos, maxTypos)
		}
		if typos < least {
			best, least = candidate, typos
		}
	}
	if best == "" {
		return ""
	}
	return ": did you mean " + best + "?"
}

// editDistance returns how many insertions, deletions and substitutions of bytes make a to b (Levenshtein).
func editDistance(a, b string) int {
	row := make([]int, len(b)+1) // distances of a[:i] to each b[:j]
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			substituted := diagonal
			if a[i] != b[j] {
				substituted++
			}
			diagonal = row[j+1]
			row[j+1] = min(substituted, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
