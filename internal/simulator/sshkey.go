package simulator

import (
	"cmp"
	"errors"
	"net/http"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/gpurent/terraform-provider-gpurent/internal/publickey"
)

const maxSSHKeyName = 60

// sshKey is a public SSH key.
type sshKey struct {
	Seq int64
	sshKeyView
}

func (k *sshKey) sequence() int64 { return k.Seq }

type sshKeyView struct {
	ID          string    `json:"id"`
	Name        string    `json:"name"`
	Type        string    `json:"type"`
	Fingerprint string    `json:"fingerprint"`
	CreatedAt   time.Time `json:"created_at"`
}

func viewSSHKey(k *sshKey) sshKeyView { return k.sshKeyView }

func (e *engine) findSSHKey(id string) *sshKey {
	for _, k := range e.SSHKeys {
		if k.ID == id {
			return k
		}
	}
	return nil
}

var (
	textPrivateKey = text{"это закрытый ключ: его нельзя никому передавать",
		"this is a private key: it must never be sent to anyone"}
	textPublicKey = text{"должна быть одна строка файла открытого ключа SSH",
		"must be one line of an SSH public key file"}
)

// readSSHKey reads the body of a new key. The same public key may be added twice.
func readSSHKey(f *fields) (*sshKey, error) {
	k := &sshKey{}
	f.require("public_key")
	name := f.str("name", 0, maxSSHKeyName)
	if line := f.str("public_key", 1, 1<<16); line != nil {
		key, err := publickey.Parse(*line)
		if errors.Is(err, publickey.ErrPrivate) {
			f.add("public_key", textPrivateKey)
		} else if err != nil {
			f.add("public_key", textPublicKey)
		}
		k.Type, k.Fingerprint = key.Type, key.Fingerprint
		k.Name = firstRunes(cmp.Or(key.Comment, key.Fingerprint), maxSSHKeyName)
	}
	if name != nil && *name != "" {
		k.Name = *name
	}
	return k, f.finish()
}

func firstRunes(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n])
}

func (c *call) listSSHKeys() (any, error) {
	return listPage(c, "ssh-keys", parseQuery(c.r.URL), c.SSHKeys, false, keepAll, viewSSHKey)
}

func (c *call) createSSHKey() (any, error) {
	k, err := readSSHKey(c.fields)
	if err != nil {
		return nil, err
	}
	c.status = http.StatusCreated
	k.Seq, k.ID, k.CreatedAt = c.nextSeq(), c.newID("ssh"), c.Now
	c.SSHKeys = append(c.SSHKeys, k)
	return viewSSHKey(k), nil
}

// deleteSSHKey does not change instances that have the key.
func (c *call) deleteSSHKey() (any, error) {
	k := c.findSSHKey(c.params["id"])
	if k == nil {
		return nil, notFound(text{"SSH-ключ не найден", "SSH key not found"})
	}
	// A new slice: instances refer to the old one.
	c.SSHKeys = slices.DeleteFunc(slices.Clone(c.SSHKeys), func(other *sshKey) bool { return other == k })
	return nil, nil
}
