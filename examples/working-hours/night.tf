# Stopped at night and at the weekend. The disk is kept, and only the disk is billed.

locals {
  local_time = timeadd(local.now, "3h") # Moscow: UTC and 3 hours, all year
  hour       = tonumber(formatdate("h", local.local_time))
  weekend    = contains(["Sat", "Sun"], formatdate("EEE", local.local_time))
  working    = !local.weekend && local.hour >= 9 && local.hour < 20
}

resource "gpurent_instance" "desk" {
  name            = "desk"
  template        = "pytorch"
  disk_gb         = 60
  max_price_kop_h = 9000 # 90 rubles per hour
  offer_query     = { gpu = ["rtx_4090"], num_gpus = [1] }
  ssh_key_ids     = [gpurent_ssh_key.me.id]
  desired_state   = local.working ? "running" : "stopped"
}
