# The cheapest verified server with one RTX 4090, for at most 90 rubles per hour.
resource "gpurent_instance" "trainer" {
  name            = "trainer"
  template        = "pytorch"
  disk_gb         = 60
  max_price_kop_h = 9000
  idempotency_key = "trainer" # unique in the account

  offer_query = {
    gpu      = ["rtx_4090"]
    num_gpus = [1]
    verified = true
  }

  timeouts = {
    create = "45m"
  }
}

output "ssh" {
  # Null while the server is stopped.
  value = try(gpurent_instance.trainer.ssh.command, null)
}
