locals {
  # Only the disk of a stopped or outbid server is billed.
  kop_h = {
    for name, server in gpurent_instance.server : name =>
    contains(["stopped", "outbid"], server.status) ? server.price.stopped_kop_h : server.price.running_kop_h
  }

  total_kop_h = sum(concat([0], values(local.kop_h)))
}

output "servers" {
  description = "Servers by name, each with id, status, ssh (SSH command, null without an SSH address) and kop_h (current cost in kopecks per hour)."
  value = {
    for name, server in gpurent_instance.server : name => {
      id     = server.id
      status = server.status
      ssh    = try(server.ssh.command, null)
      kop_h  = local.kop_h[name]
    }
  }
}

output "total_kop_h" {
  description = "Current cost of all servers, disks included, in kopecks per hour."
  value       = local.total_kop_h

  # The validation of max_total_kop_h uses only the price caps, which exclude extra disk.
  # This check uses the actual prices. Terraform evaluates it when all prices are known:
  # in the plan, or after the servers are created.
  precondition {
    condition     = var.max_total_kop_h == null ? true : local.total_kop_h <= var.max_total_kop_h
    error_message = "The pool costs more than max_total_kop_h: ${local.total_kop_h} kopecks per hour. Existing servers are not changed and are still billed. Reduce size, names or disk_gb, stop the pool, or raise max_total_kop_h."
  }
}

output "monthly_kop" {
  description = "Cost of 730 hours (a month) at the current prices, in kopecks."
  value       = local.total_kop_h * 730
}
