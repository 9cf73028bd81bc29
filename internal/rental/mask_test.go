package rental

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// refusedWith returns the error for a template whose refusal has this text in all places.
func refusedWith(t testing.TB, template TemplateCreate, text string) *Error {
	t.Helper()
	body, err := json.Marshal(map[string]any{"error": map[string]any{
		"code": CodeValidation, "message": text, "details": map[string]any{
			"reason": text, "issues": []any{text, map[string]any{"field": "env." + text, "message": text}, []any{text}},
		},
	}})
	if err != nil {
		t.Fatal(err)
	}
	config := Config{BaseURL: testURL, APIKey: canary, Transport: &scriptedTransport{
		replies: []reply{{status: 422, body: string(body)}},
	}}
	client, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	_, err = client.CreateTemplate(t.Context(), template)
	refused, ok := err.(*Error)
	if !ok {
		t.Fatalf("got %v", err)
	}
	return refused
}

// No refusal repeats a text that was sent, whatever it does with it, except short texts and short parts of long ones.
func TestSent_NotRepeated(t *testing.T) {
	// The characters do not occur in the rest of the messages.
	texts := rapid.StringOfN(rapid.SampledFrom([]rune("ZQX0789éЖ€<\"'\\ \n\t\r")), minHidden, 60, -1)
	quotes := map[string]func(string) string{
		"as it is": func(s string) string { return "Expected another, received '" + s + "'" },
		"quoted":   func(s string) string { return "Expected another, received " + strconv.Quote(s) },
		"JSON": func(s string) string {
			text, _ := json.Marshal(map[string]string{"v": s}) //nolint:errcheck // it can be encoded
			return "Received " + string(text)
		},
		"shortened": func(s string) string { return "Received " + string([]rune(s)[:utf8.RuneCountInString(s)/2]) + "…" },
		"its lines": func(s string) string { return "Lines: " + strings.Join(strings.Split(s, "\n"), " | ") },
		"at the limit": func(s string) string {
			return strings.Repeat("u", maxMessage-utf8.RuneCountInString(s)/2) + " " + s
		},
	}
	rapid.Check(t, func(r *rapid.T) {
		template := TemplateCreate{
			Name: texts.Draw(r, "name"), OnStart: texts.Draw(r, "onstart"), Image: "image:1", LaunchMode: "ssh",
			Env: map[string]string{"HF_TOKEN": texts.Draw(r, "value")},
		}
		for _, sent := range []string{template.Name, template.OnStart, template.Env["HF_TOKEN"]} {
			for how, quote := range quotes {
				refused := refusedWith(t, template, quote(sent))
				all := fmt.Sprint(refused, refused.Message, refused.Reason, refused.Issues)
				if whole := sanitize(sent); utf8.RuneCountInString(whole) >= minHidden && strings.Contains(all, whole) {
					r.Errorf("%s: %q is in %s", how, sent, all)
				}
				for line := range strings.Lines(sent) {
					if line = sanitize(line); utf8.RuneCountInString(line) >= minInWord && strings.Contains(all, line) {
						r.Errorf("%s: a line of %q, %q, is in %s", how, sent, line, all)
					}
				}
				text := []rune(sanitize(sent))
				for start := range max(len(text)-hiddenPart, 0) {
					if part := string(text[start : start+hiddenPart]); strings.Contains(all, part) {
						r.Errorf("%s: a part of %q, %q, is in %s", how, sent, part, all)
					}
				}
			}
		}
	})
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
