output "urls" {
  description = "Addresses of the web interfaces by label, one for each port of the template. Null until the server is running and ready."
  value       = { for link in gpurent_instance.notebook.urls : link.label => link.url }
}

output "ssh" {
  description = "SSH command that logs in. Null unless the server is running."
  value       = gpurent_instance.notebook.ssh.command
}
