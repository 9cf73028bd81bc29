package simulator_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"golang.org/x/crypto/ssh"
)

func length(s string) int { return utf8.RuneCountInString(s) }

func within(n, low, high int) bool { return low <= n && n <= high }

type templateAnswer struct {
	Slug, Name, Description, Image, Owner string
	LaunchMode                            string `json:"launch_mode"`
	Ports                                 []int64
	Env                                   map[string]string
	OnStart                               *string
	MinDisk                               int  `json:"min_disk_gb"`
	RecommendedDisk                       int  `json:"recommended_disk_gb"`
	Public                                bool `json:"public"`
}

func FuzzCreateTemplate(f *testing.F) {
	for _, body := range []string{
		`{"name":"mine","image":"a/b:1"}`,
		`{"name":"Всё","image":"registry.example:5000/a/b:1.2","description":"d","launch_mode":"jupyter","ports":[80,80,65535],` +
			`"env":{"A":"b"},"onstart":"echo","min_disk_gb":10,"recommended_disk_gb":2000}`,
		`{"name":"x","image":"untagged","ports":[0],"env":{"":"x","a=b":"y"},"onstart":null,"min_disk_gb":30,"recommended_disk_gb":20}`,
		`{"name":12,"image":{},"ports":[1.5,null],"env":[],"launch_mode":"vnc","min_disk_gb":1e1}`, `[]`, `null`, ``, `{"name":"a"} {}`,
		`{"name":"x","image":"a/b:1"}`, `{"name":"xy","image":"a/b"}`, `{"name":"xy","image":"a/b:1","onstart":"` + strings.Repeat("x", 4000) + `"}`,
		`{"name":"xy","image":"a/b:1","onstart":"` + strings.Repeat("ю", 4001) + `"}`, `{"name":"xy","image":"a/b:1","description":null}`,
	} {
		f.Add(body)
	}
	fields := []string{
		"name", "image", "description", "launch_mode", "ports", "env", "onstart", "min_disk_gb", "recommended_disk_gb",
	}
	tagged := regexp.MustCompile(`^\S+:[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}(@\S+)?$`)
	x := target{}
	f.Fuzz(func(t *testing.T, body string) {
		r := x.ready(t)
		a := r.api("POST", "/templates", body)
		if !x.unchanged(t, a.judge([]int{201, 422}, body, fields...)) {
			return
		}
		var made templateAnswer
		a.into(&made)
		if !within(length(made.Name), 2, 60) || !tagged.MatchString(made.Image) || length(made.Description) > 500 || len(made.Ports) > 10 ||
			len(made.Env) > 30 || made.OnStart != nil && length(*made.OnStart) > 4000 || !within(made.MinDisk, 10, 2000) ||
			!within(made.RecommendedDisk, made.MinDisk, 2000) || made.Owner != "me" || made.Public ||
			!slices.Contains([]string{"ssh", "jupyter", "entrypoint"}, made.LaunchMode) {
			t.Fatalf("accepted: %s", a.raw)
		}
		for _, port := range made.Ports {
			if !within(int(port), 1, 65535) {
				t.Fatalf("port %d: %s", port, a.raw)
			}
		}
		said := members[string](t, body)
		onstart := ""
		if made.OnStart != nil {
			onstart = *made.OnStart
		}
		if made.Name != said["name"] || made.Image != said["image"] || made.Description != said["description"] || onstart != said["onstart"] ||
			!maps.Equal(made.Env, members[map[string]string](t, body)["env"]) {
			t.Fatalf("said %s, made %s", body, a.raw)
		}
		r.listedAs(t, "/templates", a.raw)
		r.api("DELETE", "/templates/"+made.Slug, "").want(204)
	})
}

// listedAs fails the test unless the newest item of a list is the one that was answered.
func (r *rig) listedAs(t *testing.T, path string, item []byte) {
	t.Helper()
	all := list[json.RawMessage](r, path, 200)
	if len(all) == 0 || string(all[len(all)-1]) != strings.TrimSpace(string(item)) {
		t.Fatalf("%s lists %s, not %s", path, all, item)
	}
}

func FuzzCreateSSHKey(f *testing.F) {
	ecdsa := "ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBMDeJvJ8vN8q0HFqSbWTjOyBSRzBDvwGWjCWJ0gOVF"
	for _, key := range []string{
		ed25519A, "  " + ed25519A + "\n", strings.Repeat("x", 70), "no-pty " + ed25519A, ed25519A + "\n" + ed25519A, ecdsa,
		"-----BEGIN OPENSSH PRIVATE KEY-----", strings.Replace(ed25519A, "laptop", strings.Repeat("ю", 80), 1),
	} {
		f.Add("", key, "")
		f.Add("laptop", key, "")
	}
	f.Add("", "", `{"public_key":null,"name":7}`)
	f.Add("", "", `{"public_key":"ssh-rsa AAAA","more":1}`)
	x := target{}
	f.Fuzz(func(t *testing.T, name, key, body string) {
		if body == "" {
			said := map[string]string{"public_key": strings.ToValidUTF8(key, "")}
			if name != "" {
				said["name"] = strings.ToValidUTF8(name, "")
			}
			raw, err := json.Marshal(said)
			if err != nil {
				t.Fatal(err)
			}
			body = string(raw)
		}
		r := x.ready(t)
		a := r.api("POST", "/ssh-keys", body)
		if !x.unchanged(t, a.judge([]int{201, 422}, body, "name", "public_key")) {
			return
		}
		var made struct{ ID, Name, Type, Fingerprint string }
		a.into(&made)
		said := members[string](t, body)
		public, _, _, rest, err := ssh.ParseAuthorizedKey([]byte(said["public_key"]))
		if err != nil || len(strings.TrimSpace(string(rest))) > 0 || strings.Contains(said["public_key"], "PRIVATE KEY") {
			t.Fatalf("accepted %q: %v", said["public_key"], err)
		}
		if made.Type != public.Type() || made.Fingerprint != ssh.FingerprintSHA256(public) || !within(length(made.Name), 1, 60) ||
			said["name"] != "" && made.Name != said["name"] {
			t.Fatalf("said %s, made %s", body, a.raw)
		}
		r.listedAs(t, "/ssh-keys", a.raw)
		r.api("DELETE", "/ssh-keys/"+made.ID, "").want(204)
	})
}

func FuzzCreateAPIKey(f *testing.F) {
	for _, body := range []string{
		`{"name":"ci","scopes":["user:read"]}`, `{"name":"ci","scopes":["billing:read","user:read","user:read"],"expires_in_days":3650}`,
		`{"name":"ci","scopes":["user:read"],"expires_in_days":null}`, `{"name":"","scopes":[],"expires_in_days":0}`,
		`{"name":"x","scopes":["root"],"expires_in_days":3651}`, `{"name":"x","scopes":[null]}`, `{"scopes":"user:read"}`, `{`, `"x"`,
		`{"name":"x","scopes":["user:read"],"expires_in_days":0}`, `{"name":"x","scopes":[]}`, `{"name":null,"scopes":["user:read"]}`,
	} {
		f.Add(body)
	}
	secret := regexp.MustCompile(`^gpr_[0-9A-Za-z]{40}$`)
	x := target{}
	f.Fuzz(func(t *testing.T, body string) {
		r := x.ready(t)
		a := r.api("POST", "/api-keys", body)
		if !x.unchanged(t, a.judge([]int{201, 422}, body, "name", "scopes", "expires_in_days?")) {
			return
		}
		var made struct {
			ID, Name, Prefix, Source, Secret string
			Scopes                           []string
			ExpiresAt                        *time.Time `json:"expires_at"`
		}
		a.into(&made)
		asked := members[[]string](t, body)["scopes"]
		slices.Sort(asked)
		got := slices.Sorted(slices.Values(made.Scopes))
		if made.Name != members[string](t, body)["name"] || !within(length(made.Name), 1, 60) || !secret.MatchString(made.Secret) ||
			!strings.HasPrefix(made.Secret, made.Prefix) || made.Source != "api" || len(asked) == 0 || !slices.Equal(slices.Compact(asked), got) {
			t.Fatalf("said %s, made %s", body, a.raw)
		}
		days, limited := members[float64](t, body)["expires_in_days"]
		if limited != (made.ExpiresAt != nil) || limited && (days < 1 || days > 3650 || !made.ExpiresAt.Equal(r.Now().Add(time.Duration(days)*24*time.Hour))) {
			t.Fatalf("said %s, made %s", body, a.raw)
		}
		want := http.StatusForbidden
		if slices.Contains(made.Scopes, "user:read") {
			want = http.StatusOK
		}
		r.as(made.Secret).do("GET", "/me", nil).want(want)
		if all := r.api("GET", "/api-keys", ""); !strings.Contains(string(all.raw), made.ID) || strings.Contains(string(all.raw), made.Secret) {
			t.Fatalf("listed: %s", all.raw)
		}
		r.api("DELETE", "/api-keys/"+made.ID, "").want(204)
		r.as(made.Secret).do("GET", "/me", nil).refused(401, "unauthorized")
	})
}
