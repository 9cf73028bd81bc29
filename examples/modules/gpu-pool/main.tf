# A pool of GPU servers of one kind. Each has a name of its own, so that the pool
# grows and shrinks without touching the servers that stay.

locals {
  # A set without names is numbered: 01, 02 …
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

  # One server, one key, in the whole account: a run that is killed between the
  # rental and the saved state loses nothing, for the next one takes the server over.
  idempotency_key = "${local.key_prefix}-${each.key}"
}
