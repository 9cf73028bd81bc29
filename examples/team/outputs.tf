# The balance is not an output, because it changes with time and every plan would
# show the change.

output "servers" {
  description = "The servers by name."
  value = {
    for name, server in gpurent_instance.server : name => {
      status  = server.status
      gpu     = "${server.gpu.count} x ${server.gpu.name}"
      country = server.country

      # Current price in kopecks per hour.
      price_kop_h = server.status == "running" ? server.price.running_kop_h : server.price.stopped_kop_h

      # Null while the server is stopped.
      ssh = server.ssh.command
    }
  }
}

output "ci_key" {
  description = "The pipeline's API key."
  value       = gpurent_api_key.ci.secret
  sensitive   = true
}
