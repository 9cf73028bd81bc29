package main

import (
	"crypto/ed25519"
	"crypto/rand"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/crypto/ssh"
)

// header begins every configuration.
const header = `terraform {
  required_providers {
    gpurent = { source = "gpurent/gpurent" }
  }
}
`

// seedProvider is for a creation that nobody measures: it looks often.
const seedProvider = `
provider "gpurent" {
  poll_interval = "100ms"
}
`

// moneyOff takes the looks at the balance away.
const moneyOff = `
provider "gpurent" {
  spending = { require_funds = "off" }
}
`

// servers is a configuration of one server for each offer. Without a name the
// provider has no twins to look for.
func servers(provider, name string, offers []string) string {
	quoted := make([]string, len(offers))
	for i, id := range offers {
		quoted[i] = strconv.Quote(id)
	}
	if name != "" {
		name = fmt.Sprintf("  name     = \"%s-${count.index}\"\n", name)
	}
	return provider + fmt.Sprintf(`
locals {
  offers = [%s]
}

resource "gpurent_instance" "server" {
  count    = %d
%s  template = "ubuntu"
  disk_gb  = %d
  offer_id = local.offers[count.index]
}
`, strings.Join(quoted, ", "), len(offers), name, diskGB)
}

// The small things of an account, which the service lists but does not give by id.
const (
	sshKeys   = 200
	templates = 20
	apiKeys   = 50
)

func smallThings() (string, error) {
	lines := make([]string, sshKeys)
	for i := range lines {
		line, err := publicKey()
		if err != nil {
			return "", err
		}
		lines[i] = strconv.Quote(line)
	}
	return fmt.Sprintf(`
locals {
  keys = [%s]
}

resource "gpurent_ssh_key" "key" {
  count      = %d
  name       = "key-${count.index}"
  public_key = local.keys[count.index]
}

resource "gpurent_template" "template" {
  count = %d
  name  = "template-${count.index}"
  image = "ubuntu:24.04"
}

resource "gpurent_api_key" "key" {
  count  = %d
  name   = "key-${count.index}"
  scopes = ["instances:read"]
}
`, strings.Join(lines, ", "), sshKeys, templates, apiKeys), nil
}

// publicKey is the line of a new key.
func publicKey() (string, error) {
	public, _, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return "", err
	}
	key, err := ssh.NewPublicKey(public)
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key))), nil
}
