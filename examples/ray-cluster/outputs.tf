locals {
  # Public address of port 2222 of the head, to which the workers open their tunnels.
  tunnel_address = try(regex("^[a-z]+://([^/]+):([0-9]+)(?:/|$)", gpurent_instance.head.urls[0].url), null)
}

output "nodes" {
  description = "Input of join.sh: number, SSH host and SSH port of each running server. The number of a worker is its slot and 1. The head has the number 0, followed by the host and the port for the tunnels."
  value = join("", concat(
    [try("0 ${gpurent_instance.head.ssh.host} ${gpurent_instance.head.ssh.port} ${join(" ", local.tunnel_address)}\n", "")],
    [for slot, worker in gpurent_fleet.worker.instances : try("${slot + 1} ${worker.ssh_host} ${worker.ssh_port}\n", "")],
  ))
}

output "dashboard" {
  description = "Command that forwards the head's dashboard to http://127.0.0.1:8265/ on your machine. Null unless the head is running."
  value       = try("${gpurent_instance.head.ssh.command} -N -L 8265:127.0.0.1:8265", null)
}

output "price_kop_h" {
  description = "Total price of all servers while they run, in kopecks per hour."
  value       = gpurent_instance.head.price.running_kop_h + gpurent_fleet.worker.running_kop_h
}
