package publickey

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"strings"
	"testing"
)

const (
	line        = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKJLu/BJj6IuH3Ssli37zXUHMHdBfD153tGyfACAryQ8"
	fingerprint = "SHA256:8v26jgbNH2fLJxQMdNeAZ5MTwnOj+VNV2xs8TocK1Mo"

	certificate = "ssh-ed25519-cert-v01@openssh.com " +
		"AAAAIHNzaC1lZDI1NTE5LWNlcnQtdjAxQG9wZW5zc2guY29tAAAAIJGygbKZnL8Otx0RAg82+g8VjS2PQd3ryhqIJp/fZjk7AAAAIEp5DYy5PV" +
		"515Cc7KsBc" +
		"3ZckWEoiDam3kzKkFvIS7JBoAAAAAAAAAAAAAAABAAAAAmlkAAAACAAAAARyb290AAAAAAAAAAD//////////wAAAAAAAACCAAAAFXBlcm1pdC" +
		"1YMTEtZm9yd2FyZGluZwAAAAAAAAAXcGVybWl0LWFnZW50LWZvcndhcmRp" +
		"bmcAAAAAAAAAFnBlcm1pdC1wb3J0LWZvcndhcmRpbmcAAAAAAAAACnBlcm1pdC1wdHkAAAAAAAAADnBlcm1pdC11c2VyLXJjAAAAAAAAAAAAAA" +
		"AzAAAAC3NzaC1lZDI1NTE5AAAAIKhLPQOpUM2vzcYj4kicPqqFqDcGB2wD" +
		"lRTqq1uWWFUgAAAAUwAAAAtzc2gtZWQyNTUxOQAAAEBCDRYLwsejHR65c6pUn63mp5gNpgz1bw/wBLT8lBg0hfO4RpNWsMPsVmCH55jNxjXMxJ" +
		"f+8YkeRN5IUbST4fQD"
)

// parts returns a line with a key of these strings.
func parts(texts ...string) string {
	var data []byte
	for _, text := range texts {
		data = append(binary.BigEndian.AppendUint32(data, uint32(len(text))), text...)
	}
	return texts[0] + " " + base64.StdEncoding.EncodeToString(data)
}

func TestParse(t *testing.T) {
	ecdsa := parts("ecdsa-sha2-nistp256", "nistp256", "\x04"+strings.Repeat("x", 64))
	hardware := parts("sk-ssh-ed25519@openssh.com", strings.Repeat("x", 32), "ssh:")
	for name, test := range map[string]struct {
		line, kind, comment string
	}{
		"plain":                {line, "ssh-ed25519", ""},
		"with a comment":       {line + " me@laptop", "ssh-ed25519", "me@laptop"},
		"with white space":     {"\t " + line + "   me  at home \r\n\n", "ssh-ed25519", "me  at home"},
		"tabs":                 {strings.Replace(line, " ", "\t\t", 1) + "\tme", "ssh-ed25519", "me"},
		"comment with PRIVATE": {line + " not a PRIVATE matter", "ssh-ed25519", "not a PRIVATE matter"},
		"comment with a key":   {line + " " + ecdsa, "ssh-ed25519", ecdsa},
		"ECDSA":                {ecdsa, "ecdsa-sha2-nistp256", ""},
		"hardware":             {hardware, "sk-ssh-ed25519@openssh.com", ""},
		"unknown type":         {parts("ssh-future", "x") + " me", "ssh-future", "me"},
	} {
		t.Run(name, func(t *testing.T) {
			key, err := Parse(test.line)
			if err != nil || key.Type != test.kind || key.Comment != test.comment {
				t.Fatalf("got %+v, %v, want %q with the comment %q", key, err, test.kind, test.comment)
			}
			if test.kind == "ssh-ed25519" && key.Fingerprint != fingerprint {
				t.Errorf("got %s, want the fingerprint of ssh-keygen, %s", key.Fingerprint, fingerprint)
			}
		})
	}
}

func TestParse_Errors(t *testing.T) {
	data := strings.Fields(line)[1]
	for name, test := range map[string]struct {
		line string
		want error
	}{
		"private key": {"-----BEGIN OPENSSH PRIVATE KEY-----\nabc\n-----END OPENSSH PRIVATE KEY-----",
			ErrPrivate},
		"PKCS 8":                {"-----BEGIN PRIVATE KEY-----", ErrPrivate},
		"two keys":              {line + "\n" + line, ErrManyLines},
		"two keys, CR":          {line + "\r" + line, ErrManyLines},
		"other line before":     {"not a key\n" + line, ErrManyLines},
		"comment line before":   {"# laptop\r\n" + line, ErrManyLines},
		"private key after key": {line + "\n-----BEGIN PRIVATE KEY-----", ErrPrivate},
		"certificate":           {certificate, ErrCertificate},
		"options":               {`no-pty,command="x" ` + line, ErrOptions},
		"options with spaces":   {`command="a \"b\" c",no-pty ` + line + " me", ErrOptions},
		"certificate, options":  {"cert-authority " + certificate, ErrCertificate},
		"empty":                 {"", ErrNotKey},
		"only a type":           {"ssh-ed25519", ErrNotKey},
		"only a key":            {data, ErrNotKey},
		"fingerprint":           {fingerprint, ErrNotKey},
		"not Base64":            {"ssh-ed25519 !!!", ErrNotKey},
		"truncated":             {line[:len(line)-8], ErrNotKey},
		"continued":             {line + "AAAA", ErrNotKey},
		"short":                 {parts("ssh-ed25519", strings.Repeat("x", 31)), ErrNotKey},
		"one string too many":   {parts("ssh-ed25519", strings.Repeat("x", 32), ""), ErrNotKey},
		"no key":                {parts("ssh-future"), ErrNotKey},
		"huge length":           {"a AAAAAWH/////", ErrNotKey},
		"wrong type":            {"ssh-rsa " + data, ErrNotKey},
	} {
		t.Run(name, func(t *testing.T) {
			if key, err := Parse(test.line); !errors.Is(err, test.want) || key != (Key{}) {
				t.Errorf("got %+v, %v, want %v", key, err, test.want)
			}
		})
	}
}

// All errors of Parse are constants. They do not contain the input, which can be a private key.
func FuzzParse_ErrorsWithoutInput(f *testing.F) {
	for _, seed := range []string{line, "-----BEGIN PRIVATE KEY-----", "ssh-rsa AAAA", `environment="A=b" ` + line, "\x00",
		strings.Repeat("A", 9000), certificate, "x\n" + line} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		key, err := Parse(text)
		switch err {
		case nil:
			if key.Type == "" || !strings.HasPrefix(key.Fingerprint, "SHA256:") {
				t.Errorf("accepted %q as %+v", text, key)
			}
		case ErrPrivate, ErrNotKey, ErrManyLines, ErrOptions, ErrCertificate:
		default:
			t.Errorf("%q: unexpected error %v", text, err)
		}
	})
}
