package sshkey

import (
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

func TestParse(t *testing.T) {
	for name, test := range map[string]struct {
		line string
		want error
	}{
		"plain":                {line, nil},
		"with a comment":       {line + " me@laptop", nil},
		"with white space":     {"\t " + line + "   me at home \r\n\n", nil},
		"comment with PRIVATE": {line + " not a PRIVATE matter", nil},
		"private key": {"-----BEGIN OPENSSH PRIVATE KEY-----\nabc\n-----END OPENSSH PRIVATE KEY-----",
			errPrivate},
		"PKCS 8":                {"-----BEGIN PRIVATE KEY-----", errPrivate},
		"two keys":              {line + "\n" + line, errManyLines},
		"two keys, CR":          {line + "\r" + line, errManyLines},
		"other line before":     {"not a key\n" + line, errManyLines},
		"comment line before":   {"# laptop\r\n" + line, errManyLines},
		"private key after key": {line + "\n-----BEGIN PRIVATE KEY-----", errPrivate},
		"certificate":           {certificate, errSigned},
		"options":               {`no-pty,command="x" ` + line, errOptions},
		"empty":                 {"", errNotKey},
		"truncated":             {line[:len(line)-8], errNotKey},
		"wrong type":            {strings.Replace(line, "ssh-ed25519", "ssh-rsa", 1), errNotKey},
	} {
		t.Run(name, func(t *testing.T) {
			key, err := parse(test.line)
			if !errors.Is(err, test.want) {
				t.Fatalf("got %v, want %v", err, test.want)
			}
			if test.want == nil && (key.fingerprint != fingerprint || key.kind != "ssh-ed25519") {
				t.Errorf("got %+v, want the fingerprint of ssh-keygen, %s", key, fingerprint)
			}
		})
	}
}

func TestCanonical(t *testing.T) {
	for _, input := range []string{fingerprint, strings.TrimPrefix(fingerprint, "SHA256:"), fingerprint + "="} {
		if got := canonical(input); got != fingerprint {
			t.Errorf("canonical(%q) = %q, want %q", input, got, fingerprint)
		}
	}
}

// All errors of parse are constants. They do not contain the input, which can be a private key.
func FuzzParse_ErrorsWithoutInput(f *testing.F) {
	for _, seed := range []string{line, "-----BEGIN PRIVATE KEY-----", "ssh-rsa AAAA", `environment="A=b" ` + line, "\x00",
		strings.Repeat("A", 9000), certificate, "x\n" + line} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		key, err := parse(text)
		switch err {
		case nil:
			if key.kind == "" || !strings.HasPrefix(key.fingerprint, "SHA256:") {
				t.Errorf("accepted %q as %+v", text, key)
			}
		case errPrivate, errNotKey, errManyLines, errOptions, errSigned:
		default:
			t.Errorf("%q: unexpected error %v", text, err)
		}
	})
}
