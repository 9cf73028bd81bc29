package rental

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// refusedWith returns the error for a template whose refusal has this text in all places.
func refusedWith(t *testing.T, template TemplateCreate, text string) *Error {
	t.Helper()
	body, err := json.Marshal(map[string]any{"error": map[string]any{
		"code": CodeValidation, "message": text, "details": map[string]any{
			"reason": text, "issues": []any{text, map[string]any{"field": "env." + text, "message": text}, []any{text}},
		},
	}})
	if err != nil {
		t.Fatal(err)
	}
	client, _ := scriptedClient(t, reply{status: http.StatusUnprocessableEntity, body: string(body)})
	_, err = client.CreateTemplate(t.Context(), template)
	return asError(t, err)
}

// No refusal repeats a text that was sent, whatever it does with it, except short texts and short parts of long ones.
func TestSent_NotRepeated(t *testing.T) {
	quotes := map[string]func(string) string{
		"as it is": func(s string) string { return "Expected another, received '" + s + "'" },
		"quoted":   func(s string) string { return "Expected another, received " + strconv.Quote(s) },
		"JSON": func(s string) string {
			text, _ := json.Marshal(s) //nolint:errcheck // it can be encoded
			return "Received " + string(text)
		},
		"shortened": func(s string) string { return "Received " + string([]rune(s)[:utf8.RuneCountInString(s)/2]) + "…" },
		"its lines": func(s string) string { return "Lines: " + strings.ReplaceAll(s, "\n", " | ") },
		"at the limit": func(s string) string {
			return strings.Repeat("u", maxMessage-utf8.RuneCountInString(s)/2) + " " + s
		},
	}
	random := rand.New(rand.NewPCG(1, 2))
	text := func() string {
		characters := []rune("ZQX0789éЖ€<\"'\\ \n\t\r") // they do not occur in the rest of the messages
		text := make([]rune, minHidden+random.IntN(60-minHidden))
		for i := range text {
			text[i] = characters[random.IntN(len(characters))]
		}
		return string(text)
	}
	for range 12 {
		template := TemplateCreate{
			Name: text(), OnStart: text(), Image: "image:1", LaunchMode: "ssh", Env: map[string]string{"HF_TOKEN": text()},
		}
		for _, sent := range []string{template.Name, template.OnStart, template.Env["HF_TOKEN"]} {
			for how, quote := range quotes {
				refused := refusedWith(t, template, quote(sent))
				checkHidden(t, how, sent, fmt.Sprint(refused, refused.Message, refused.Reason, refused.Issues))
			}
		}
	}
}

// checkHidden checks that a message does not contain a text that was sent, one of its lines, or a part of it.
func checkHidden(t *testing.T, how, sent, message string) {
	t.Helper()
	check := func(whole string, shortest int) {
		text := []rune(sanitize(whole))
		size := min(len(text), hiddenPart)
		for start := range len(text) - size + 1 {
			if part := string(text[start : start+size]); size >= shortest && strings.Contains(message, part) {
				t.Errorf("%s: a part of %q, %q, is in %s", how, sent, part, message)
			}
		}
	}
	check(sent, minHidden)
	for line := range strings.Lines(sent) {
		check(line, minInWord)
	}
}

// A message stays readable: it keeps the names of fields and variables, ids, enumerations, and words that contain a
// short text.
func TestSent_Readable(t *testing.T) {
	template := TemplateCreate{
		Name: "training-instance", Image: "web/app:1", LaunchMode: "jupyter", Description: "env",
		Env: map[string]string{"MODE": "able", "LEVEL": "on", "HF_TOKEN": "hunter2", "PIN": "20481234"},
	}
	for text, want := range map[string]string{
		"env.HF_TOKEN is too long":                      "env.HF_TOKEN is too long",
		"env: unavailable on jupyter; limit 20 reached": "env: unavailable on jupyter; limit 20 reached",
		"an instance is unable: able":                   "an instance is unable: (hidden)",
		"received 'hunter2', not xhunter2x":             "received '(hidden)', not xhunter2x",
		"x20481234x, training-instance":                 "x(hidden)x, (hidden)",
		"training-insta… is taken":                      "(hidden)… is taken",
	} {
		if got := refusedWith(t, template, text).Message; got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
