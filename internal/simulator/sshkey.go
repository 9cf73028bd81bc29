package simulator

import (
	"cmp"
	"errors"
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
