# A server that another configuration manages, or that somebody has rented in the
# console.
data "gpurent_instance" "shared" {
  name = "shared"
}

output "ssh" {
  value = try(data.gpurent_instance.shared.ssh.command, "It does not run.")
}

output "rubles_so_far" {
  value = data.gpurent_instance.shared.cost_so_far_kop / 100
}
