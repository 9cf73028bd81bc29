output "servers" {
  description = "The servers by name."
  value = {
    for name, server in local.servers : name => {
      type   = server.type
      status = server.status

      # Price while it runs, in kopecks per hour. Only the disk of an outbid server is billed.
      price_kop_h = server.running_kop_h

      # Null unless the server is running. Can change when the server restarts.
      ssh = try("ssh -p ${server.ssh_port} ${server.ssh_user}@${server.ssh_host}", null)
    }
  }
}
