output "servers" {
  description = "The servers by name."
  value = {
    for name, server in local.servers : name => {
      type   = server.type
      status = server.status

      # Current price in kopecks per hour. Only the disk of an outbid server is billed.
      price_kop_h = server.status == "running" ? server.price.running_kop_h : server.price.stopped_kop_h

      # Null unless the server is running. Can change when the server restarts.
      ssh = try(server.ssh.command, null)
    }
  }
}
