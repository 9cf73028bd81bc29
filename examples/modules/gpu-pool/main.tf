# A pool of GPU servers with the same configuration. Each server has a name, so that
# adding or removing one does not change the others.

locals {
  # Without var.names, the servers are numbered: 01, 02 and so on.
  names = var.names != null ? var.names : toset([for n in range(var.size) : format("%02d", n + 1)])

  key_prefix = coalesce(var.idempotency_key_prefix, var.name)
}

resource "gpurent_instance" "server" {
  for_each = local.names

  name            = "${var.name}-${each.key}"
  template        = var.template
  disk_gb         = var.disk_gb
  ssh_key_ids     = var.ssh_key_ids
  type            = var.type
  max_price_kop_h = var.max_price_kop_h
  offer_query     = var.offer_query
  on_outbid       = var.on_outbid
  desired_state   = var.desired_state

  # Unique for each server in the account. If an apply is killed before it has saved
  # the server in the state, the next apply recovers the server with this key.
  idempotency_key = "${local.key_prefix}-${each.key}"
}
