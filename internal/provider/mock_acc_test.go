package provider_test

import (
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// mockedConfig uses the functions with attributes of every kind of object, configured and computed ones.
const mockedConfig = `
resource "gpurent_ssh_key" "me" {
  name       = "me"
  public_key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIMKGO1NdJSk5BfhuJ6qu8AZE9ObNpmLfvRDQNCCLJMSE me"
}

resource "gpurent_instance" "worker" {
  count = 2

  name        = "worker-${count.index}"
  template    = "pytorch"
  disk_gb     = 60
  ssh_key_ids = [gpurent_ssh_key.me.id]
  offer_query = {}
}

data "gpurent_instance" "other" {
  id = gpurent_instance.worker[0].id
}

data "gpurent_balance" "now" {}

output "ssh_config" {
  value = join("", [for w in gpurent_instance.worker : provider::gpurent::ssh_config(w.name, w.ssh)])
}

output "other_ssh_config" {
  value = provider::gpurent::ssh_config("other", data.gpurent_instance.other.ssh)
}

output "price" {
  value = provider::gpurent::format_rub(
    gpurent_instance.worker[0].price.running_kop_h + data.gpurent_balance.now.balance_kop
  )
}

output "fingerprint" {
  value = provider::gpurent::ssh_fingerprint(gpurent_ssh_key.me.public_key)
}
`

const mockedRuns = `
mock_provider "gpurent" {}

run "apply" {
  assert {
    condition     = length(regexall("# worker-", output.ssh_config)) == 2 && startswith(output.other_ssh_config, "#")
    error_message = output.ssh_config
  }
}
`

// A configuration that uses the functions passes a test with a plain mock_provider, which returns random texts, the
// number 0 and false.
func TestAccFunctions_plainMock(t *testing.T) {
	t.Parallel()
	w := acctest.Start(t).Workspace(mockedConfig)
	w.Write("mock.tftest.hcl", mockedRuns)
	w.Run("test", "-no-color", "-verbose")
}
