provider "gpurent" {}

# A server that this configuration does not manage.
data "gpurent_instance" "shared" {
  name = "shared"
}

output "ssh" {
  value = coalesce(data.gpurent_instance.shared.ssh.command, "The server is not running.")
}

output "rubles_so_far" {
  value = data.gpurent_instance.shared.cost_so_far_kop / 100
}
