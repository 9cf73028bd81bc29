package rental

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Entries that cannot be read are left out one by one, and reported; entries with unknown values are not strange.
func TestStrangeEntriesAreLeftOut(t *testing.T) {
	price := `"price":{"running_kop_h":1,"stopped_kop_h":1}`
	entries := []string{
		`{"id":"ok",` + price + `,"gpu":{"count":1}}`,
		`{"id":"unknown values",` + price + `,"status":"thawing","type":"lease","template":null,"gpu":null,"ssh":null,"urls":null,"stop_reason":"moon"}`,
		`{"id":"negative","price":{"running_kop_h":-5}}`,
		`{"id":"absurd","price":{"running_kop_h":9000000000000000}}`,
		`{"id":"wrong type",` + price + `,"disk_gb":"ten"}`,
		`{"id":"wrong object",` + price + `,"gpu":[]}`,
		`{"id":"bad time",` + price + `,"created_at":"yesterday"}`,
		`{"id":"many urls",` + price + `,"urls":[` + strings.Repeat("{},", maxValues) + `{}]}`,
		`{` + price + `}`, `{"id":null,` + price + `}`, `{"id":7,` + price + `}`, `null`, `5`, `[]`, `"x"`,
		`{"id":"last",` + price + `}`,
	}
	client, _ := scriptedClient(t, reply{status: 200, body: onePage(strings.Join(entries, ","))})
	var skipped []string
	ctx := WithSkipped(t.Context(), func(s Skipped) {
		if s.Err == nil || s.Err.Error() == "" {
			t.Errorf("%q is left out for no reason", s.ID)
		}
		skipped = append(skipped, s.ID)
	})
	var ids []string
	for instance, err := range client.ListInstances(ctx, ListInstancesQuery{}) {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, instance.ID)
	}
	if diff := cmp.Diff([]string{"ok", "unknown values", "last"}, ids); diff != "" {
		t.Errorf("listed (-want +got):\n%s", diff)
	}
	want := []string{"negative", "absurd", "wrong type", "wrong object", "bad time", "many urls", "", "", "", "", "", "", ""}
	if diff := cmp.Diff(want, skipped); diff != "" {
		t.Errorf("left out (-want +got):\n%s", diff)
	}
}

// A server was rented when the service answers with a success and an id, whatever else is wrong with the answer.
func TestCreateWithUnreadableRest(t *testing.T) {
	for name, body := range map[string]string{
		"wrong type":      `{"id":"i","disk_gb":"ten","price":{"running_kop_h":7}}`,
		"negative price":  `{"id":"i","price":{"running_kop_h":-7}}`,
		"many empty urls": `{"id":"i","urls":[` + strings.Repeat("{},", 1_000_000) + `{}]}`,
		"too large":       `{"id":"i","name":"` + strings.Repeat("x", maxBody) + `"}`,
		"broken":          `{"name":"n","id":"i",x}`,
		"cut":             `{"gpu":{"slug":"a"},"id":"i","name":"t`,
		"id after it":     `{"disk_gb":"ten","id":"i"}`,
	} {
		for _, status := range []int{http.StatusOK, http.StatusCreated} {
			t.Run(fmt.Sprintf("%s/%d", name, status), func(t *testing.T) {
				client, s := scriptedClient(t, reply{status: status, body: body})
				created, replayed, err := client.CreateInstance(t.Context(), "k", InstanceCreate{})
				if err == nil || len(err.Error()) > 2*maxMessage || IsOutcomeUnknown(err) || s.attempts() != 1 {
					t.Errorf("%d attempts, outcome unknown %t, %.200v; want an error that says what cannot be read", s.attempts(), IsOutcomeUnknown(err), err)
				}
				if created.ID != "i" || replayed != (status == http.StatusOK) || len(created.URLs) != 0 {
					t.Errorf("got id %q, replayed %t, %d URLs", created.ID, replayed, len(created.URLs))
				}
			})
		}
	}
}

// What is small on the wire stays small in memory: three bytes of an empty entry are twenty-four in a slice, and hundreds in a state.
func TestMemoryOfHostileInstanceIsBounded(t *testing.T) {
	body := `{"id":"i","urls":[` + strings.Repeat("{},", (maxBody-100)/3) + `{}]}`
	client := newServerClient(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusCreated)
		write(t, w, body)
	})
	var created Instance
	var err error
	got := allocated(func() { created, _, err = client.CreateInstance(t.Context(), "k", InstanceCreate{}) })
	if created.ID != "i" || err == nil {
		t.Errorf("got %q, %v", created.ID, err)
	}
	if most := uint64(8 * maxBody); got > most {
		t.Errorf("it took %d MiB in all, want at most %d", got>>20, most>>20)
	}
	t.Logf("%d MiB", got>>20)
}
