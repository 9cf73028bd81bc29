output "urls" {
  description = "Addresses of the web interfaces by label, one for each port of the template. Null while the server does not run, or is not ready."
  value       = { for link in gpurent_instance.notebook.urls : link.label => link.url }
}

output "ssh" {
  description = "Command that logs in. Null while the server does not run."
  value       = try(gpurent_instance.notebook.ssh.command, null)
}
