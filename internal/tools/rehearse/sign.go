package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/armor"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
)

const (
	// signScript signs a release and its rehearsal.
	signScript = "internal/tools/rehearse/sign.sh"
	// keyBits is the size of a temporary key, smaller than that of a real key to save time.
	keyBits = 2048
)

// sign signs the list of checksums in a folder, as the release workflow does, with a temporary key. It returns the key.
func (s stage) sign(ctx context.Context, dist string) (*openpgp.Entity, error) {
	list, err := checksums(os.DirFS(dist))
	if err != nil {
		return nil, err
	}
	key, err := openpgp.NewEntity("Rehearsal", "", "", &packet.Config{
		Algorithm: packet.PubKeyAlgoRSA, RSABits: keyBits,
	})
	if err != nil {
		return nil, err
	}
	return key, s.signWith(ctx, key, dist, digest([]byte(list.text)))
}

// signWith runs the script with a key and the checksum of the list of checksums.
func (s stage) signWith(ctx context.Context, key *openpgp.Entity, dist, sum string) error {
	secret, err := armoredSecret(key)
	if err != nil {
		return err
	}
	script := filepath.Join(s.root, filepath.FromSlash(signScript))
	cmd := s.command(ctx, s.root, "bash", script, dist, sum)
	cmd.Env = append(os.Environ(), "GPG_PRIVATE_KEY="+secret,
		fmt.Sprintf("GPG_FINGERPRINT=%X", key.PrimaryKey.Fingerprint))
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", signScript, err)
	}
	return nil
}

// armoredSecret returns the private key in the format of the release workflow.
func armoredSecret(key *openpgp.Entity) (string, error) {
	var secret bytes.Buffer
	writer, err := armor.Encode(&secret, openpgp.PrivateKeyType, nil)
	if err != nil {
		return "", err
	}
	err = errors.Join(key.SerializePrivate(writer, nil), writer.Close())
	return secret.String(), err
}

// readPublicKey reads an armored public key.
func readPublicKey(file string) (*openpgp.Entity, error) {
	content, err := os.ReadFile(file) //nolint:gosec // the caller names the file
	if err != nil {
		return nil, err
	}
	keys, err := openpgp.ReadArmoredKeyRing(bytes.NewReader(content))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if len(keys) != 1 {
		return nil, fmt.Errorf("%s has %d keys, want one", file, len(keys))
	}
	return keys[0], nil
}

// checkSignature verifies the signature of the list of checksums as Terraform and OpenTofu do: it must be a binary
// signature by the key.
func checkSignature(dist fs.FS, sums list, key *openpgp.Entity) error {
	name := sums.name + ".sig"
	signature, err := fs.ReadFile(dist, name)
	if err != nil {
		return err
	}
	_, err = openpgp.CheckDetachedSignature(openpgp.EntityList{key}, strings.NewReader(sums.text),
		bytes.NewReader(signature), nil)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
