output "base_url" {
  description = "Address for clients of the OpenAI API. Null unless the server is running. Can change when it starts again."
  value       = try("${gpurent_instance.llm.urls[0].url}v1", null)
}

output "token" {
  description = "Token that clients send."
  value       = var.token
  sensitive   = true
}

output "ssh" {
  description = "SSH command that logs in. Null unless the server is running."
  value       = gpurent_instance.llm.ssh.command
}

output "price_kop_h" {
  description = "Price of the running server in kopecks per hour."
  value       = gpurent_instance.llm.price.running_kop_h
}
