output "servers" {
  description = "The servers by name."
  value = {
    for name, server in gpurent_instance.worker : name => {
      type   = server.type
      status = server.status

      # What it costs now, kopecks per hour: an outbid server costs its disk.
      price_kop_h = server.status == "running" ? server.price.running_kop_h : server.price.stopped_kop_h

      # Null while the server does not run. It may be another after an outbid.
      ssh = try(server.ssh.command, null)
    }
  }
}
