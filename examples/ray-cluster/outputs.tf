locals {
  # Where the workers join: the address that the service gave to port 2222.
  gate = try(regex("^[a-z]+://(.+):([0-9]+)/?$", gpurent_instance.head.urls[0].url), null)
}

output "nodes" {
  description = "What join.sh reads: number, SSH host and SSH port of each server that runs. The head has number 0, and the address where the workers join."
  value = join("", concat(
    [try("0 ${gpurent_instance.head.ssh.host} ${gpurent_instance.head.ssh.port} ${join(" ", local.gate)}\n", "")],
    [for name, n in local.workers : try("${n} ${gpurent_instance.worker[name].ssh.host} ${gpurent_instance.worker[name].ssh.port}\n", "")],
  ))
}

output "dashboard" {
  description = "Command that brings the head's dashboard to http://127.0.0.1:8265/ on your machine. Null while the head does not run."
  value       = try("${gpurent_instance.head.ssh.command} -N -L 8265:127.0.0.1:8265", null)
}

output "price_kop_h" {
  description = "What all servers together cost while they run, kopecks per hour."
  value       = sum(concat([gpurent_instance.head.price.running_kop_h], [for server in gpurent_instance.worker : server.price.running_kop_h]))
}
