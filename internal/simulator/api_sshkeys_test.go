package simulator_test

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strings"
	"testing"
)

// Chapter "SSH keys".

func TestSSHKey_PublicKey(t *testing.T) {
	api := newFundedClient(t)
	private := "-----BEGIN OPENSSH PRIVATE KEY-----\n" +
		"b3BlbnNzaC1rZXktdjEAAAAABG5vbmU\n-----END OPENSSH PRIVATE KEY-----\n"
	key := publicKey(1)
	kind, rest, _ := strings.Cut(key, " ")
	blob, _, _ := strings.Cut(rest, " ")
	checkField(object{}, "public_key", []any{kind + " " + blob, kind + " " + blob + " a comment of words"}, []any{
		"ssh-ed25519", blob, kind + " !!!", kind + " " + blob[:20], "ssh-rsa " + blob, `command="ls" ` + key,
		private, strings.ReplaceAll(private, "\n", " "), key + "\n" + publicKey(2),
	}, func(body object) response { return api.post("/ssh-keys", body) })
}

func TestSSHKey_Created(t *testing.T) {
	api := newFundedClient(t)
	key := publicKey(7)
	blob, err := base64.StdEncoding.DecodeString(strings.Fields(key)[1])
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(blob)
	o := api.post("/ssh-keys", object{"name": "ноутбук", "public_key": key}).created()
	equal(t, "name", o.text("name"), "ноутбук")
	equal(t, "type", o.text("type"), "ssh-ed25519")
	equal(t, "fingerprint", o.text("fingerprint"), "SHA256:"+base64.RawStdEncoding.EncodeToString(sum[:]))
	check(t, o.time("created_at").Equal(api.Now()), "created_at %v, now %v", o["created_at"], api.Now())
	equal(t, "the key in the list", asJSON(api.list("/ssh-keys")), asJSON([]object{o}))
	again := api.newSSHKey(7)
	check(t, again["id"] != o["id"] && again["fingerprint"] == o["fingerprint"], "the same key twice: %v", again)
}

// A deleted key is not attached to new instances; running instances are unchanged.
func TestSSHKey_Deleted(t *testing.T) {
	api := newFundedClient(t)
	gone, kept := api.newSSHKey(1).text("id"), api.newSSHKey(2).text("id")
	i := api.runningInstance(nil)
	api.delete("/ssh-keys/" + gone).want(http.StatusNoContent)
	api.delete("/ssh-keys/" + gone).failsWith("not_found")
	check(t, !api.listHas("/ssh-keys", gone), "a deleted key is listed")
	equal(t, "a server that has the key", asJSON(api.instance(i.text("id"))["ssh"]), asJSON(i["ssh"]))
	api.create("deleted-key", api.instanceBody(object{"ssh_key_ids": []any{gone}})).invalid("ssh_key_ids")
	api.createInstance(object{"ssh_key_ids": []any{kept}})
}
