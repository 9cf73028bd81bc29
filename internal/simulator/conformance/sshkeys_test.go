package conformance

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// Chapter "SSH keys".

func TestSSHKeyBounds(t *testing.T) {
	s := start(t)
	send := func(body object) response {
		a := s.post("/ssh-keys", body)
		if a.status == http.StatusCreated {
			s.delete("/ssh-keys/" + text(a.object(), "id")).want(http.StatusNoContent)
		}
		return a
	}
	private := "-----BEGIN OPENSSH PRIVATE KEY-----\n" +
		"b3BlbnNzaC1rZXktdjEAAAAABG5vbmU\n-----END OPENSSH PRIVATE KEY-----\n"
	key := publicKey(1)
	kind, rest, _ := strings.Cut(key, " ")
	blob, _, _ := strings.Cut(rest, " ")
	body := object{"name": "n", "public_key": key}
	checkBounds("SshKeyCreate", body, send)
	checkField(body, "public_key", []any{kind + " " + blob, kind + " " + blob + " a comment of words"}, []any{
		"ssh-ed25519", blob, kind + " !!!", kind + " " + blob[:20], "ssh-rsa " + blob,
		private, strings.ReplaceAll(private, "\n", " "), key + "\n" + publicKey(2),
	}, send)
	equal(t, "keys left", len(s.list("/ssh-keys")), 0)
}

func TestSSHKeyCreatedAndDeleted(t *testing.T) {
	s := start(t)
	key := publicKey(7)
	blob, err := base64.StdEncoding.DecodeString(strings.Fields(key)[1])
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(blob)
	before := s.now()
	o := s.post("/ssh-keys", object{"name": "ноутбук", "public_key": key}).created()
	equal(t, "name", text(o, "name"), "ноутбук")
	equal(t, "type", text(o, "type"), "ssh-ed25519")
	equal(t, "fingerprint", text(o, "fingerprint"), "SHA256:"+base64.RawStdEncoding.EncodeToString(sum[:]))
	check(t, timeOf(o, "created_at").Equal(before), "created_at %v, now %v", o["created_at"], before)
	listed := s.list("/ssh-keys")
	check(t, len(listed) == 1 && short(listed[0]) == short(o), "the key in the list: %v", listed)
	again := s.post("/ssh-keys", object{"public_key": key}).created()
	check(t, again["id"] != o["id"] && again["fingerprint"] == o["fingerprint"], "the same key twice: %v", again)

	i := s.running(nil)
	s.delete("/ssh-keys/" + text(o, "id")).want(http.StatusNoContent)
	s.delete("/ssh-keys/" + text(o, "id")).failsWith("not_found")
	check(t, !slices.Contains(ids(s.list("/ssh-keys")), text(o, "id")), "a deleted key is listed")
	now := s.instance(text(i, "id"))
	equal(t, "status of a server that has the key", text(now, "status"), "running")
	equal(t, "ssh of a server that has the key", short(now["ssh"]), short(i["ssh"]))
	body := s.rentBody()
	body["ssh_key_ids"] = []any{o["id"]}
	a := s.create(uniqueName("deleted-key"), body)
	check(t, a.status == http.StatusUnprocessableEntity || a.status == http.StatusNotFound,
		"a rental with a deleted key: %d", a.status)
	body["ssh_key_ids"] = []any{again["id"]}
	s.create(uniqueName("live-key"), body).created()
	for _, id := range []string{"none", "%D0%B9", "a%2Fb"} {
		s.delete("/ssh-keys/" + id).failsWith("not_found")
	}
}
