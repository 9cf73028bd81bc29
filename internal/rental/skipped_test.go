package rental

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Invalid entries are skipped and reported. Entries with unknown values are valid.
func TestList_SkipsInvalidEntries(t *testing.T) {
	price := `"price":{"running_kop_h":1,"stopped_kop_h":1}`
	entries := []string{
		`{"id":"ok",` + price + `,"gpu":{"count":1}}`,
		`{"id":"unknown values",` + price +
			`,"status":"thawing","type":"lease","template":null,"gpu":null,"ssh":null,"urls":null,"stop_reason":"moon"}`,
		`{"id":"negative","price":{"running_kop_h":-5}}`,
		`{"id":"absurd","price":{"running_kop_h":9000000000000000}}`,
		`{"id":"wrong type","price":{"running_kop_h":1.5}}`,
		`{"id":"wrong object",` + price + `,"gpu":[]}`,
		`{` + price + `}`, `{"id":null,` + price + `}`, `{"id":7,` + price + `}`, `null`, `5`, `[]`, `"x"`,
		`{"id":"last",` + price + `}`,
	}
	client, _ := scriptedClient(t, reply{status: 200, body: onePage(strings.Join(entries, ","))})
	var omitted []Skipped
	query := ListInstancesQuery{ListOptions: ListOptions{Skipped: &omitted}}
	var ids []string
	for instance, err := range client.ListInstances(t.Context(), query) {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, instance.ID)
	}
	if diff := cmp.Diff([]string{"ok", "unknown values", "last"}, ids); diff != "" {
		t.Errorf("listed (-want +got):\n%s", diff)
	}
	var skipped []string
	for _, s := range omitted {
		if s.Err == nil || s.Err.Error() == "" {
			t.Errorf("%q is skipped without an error", s.ID)
		}
		skipped = append(skipped, s.ID)
	}
	want := []string{"negative", "absurd", "wrong type", "wrong object", "", "", "", "", "", "", ""}
	if diff := cmp.Diff(want, skipped); diff != "" {
		t.Errorf("skipped (-want +got):\n%s", diff)
	}
}

// After a success with an id the instance is rented, even if the rest of the response is invalid.
func TestCreateInstance_InvalidFields(t *testing.T) {
	for name, body := range map[string]string{
		"wrong type":                 `{"id":"i","status":5,"price":{"running_kop_h":7}}`,
		"negative price":             `{"id":"i","price":{"running_kop_h":-7}}`,
		"too large":                  `{"id":"i","name":"` + strings.Repeat("x", maxBody) + `"}`,
		"invalid JSON":               `{"name":"n","id":"i",x}`,
		"incomplete":                 `{"gpu":{"slug":"a"},"id":"i","name":"t`,
		"id after the invalid field": `{"status":5,"id":"i"}`,
	} {
		for _, status := range []int{http.StatusOK, http.StatusCreated} {
			t.Run(fmt.Sprintf("%s/%d", name, status), func(t *testing.T) {
				client, s := scriptedClient(t, reply{status: status, body: body})
				created, replay, err := client.CreateInstance(t.Context(), "k", InstanceCreate{})
				if err == nil || len(err.Error()) > 2*maxMessage || IsOutcomeUnknown(err) || s.attempts() != 1 {
					t.Errorf("%d attempts, outcome unknown %t, %.200v; want a short error after one attempt",
						s.attempts(), IsOutcomeUnknown(err), err)
				}
				if created.ID != "i" || (replay == Replayed) != (status == http.StatusOK) || len(created.URLs) != 0 {
					t.Errorf("got id %q, replay %d, %d URLs", created.ID, replay, len(created.URLs))
				}
			})
		}
	}
}
