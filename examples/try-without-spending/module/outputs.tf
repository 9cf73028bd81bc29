output "id" {
  description = "Id of the server."
  value       = gpurent_instance.server.id
}

output "status" {
  description = "Status of the server, such as \"running\"."
  value       = gpurent_instance.server.status
}

output "ssh" {
  description = "SSH command that logs in. Null while the server is stopped."
  value       = gpurent_instance.server.ssh.command
}

output "price_kop_h" {
  description = "Current price of the server in kopecks per hour."
  value       = var.running ? gpurent_instance.server.price.running_kop_h : gpurent_instance.server.price.stopped_kop_h
}
