package simulator

import (
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/crypto/ssh"
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
	for _, k := range e.sshKeys {
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
		key, comment, problem := parsePublicKey(*line)
		if key == nil {
			f.add("public_key", problem)
		} else {
			k.Type, k.Fingerprint = key.Type(), ssh.FingerprintSHA256(key)
			k.Name = k.Fingerprint
			if comment != "" {
				k.Name = firstRunes(comment, maxSSHKeyName)
			}
		}
	}
	if name != nil && *name != "" {
		k.Name = *name
	}
	return k, f.finish()
}

// parsePublicKey returns the key and its comment, or nil and the problem.
func parsePublicKey(line string) (ssh.PublicKey, string, text) {
	line = strings.TrimSpace(line)
	if strings.Contains(line, "PRIVATE KEY") {
		return nil, "", textPrivateKey
	}
	if strings.ContainsAny(line, "\r\n") {
		return nil, "", textPublicKey
	}
	key, comment, options, _, err := ssh.ParseAuthorizedKey([]byte(line))
	if err != nil || len(options) > 0 {
		return nil, "", textPublicKey
	}
	if _, certificate := key.(*ssh.Certificate); certificate {
		return nil, "", textPublicKey
	}
	return key, comment, text{}
}

func firstRunes(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n])
}
