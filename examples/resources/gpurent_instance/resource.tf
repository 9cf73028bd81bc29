# The cheapest verified server with one RTX 4090 that is there when it is rented,
# for at most 90 rubles an hour.
resource "gpurent_instance" "trainer" {
  name            = "trainer"
  template        = "pytorch"
  disk_gb         = 60
  max_price_kop_h = 9000

  offer_query = {
    gpu      = ["rtx_4090"]
    num_gpus = [1]
    verified = true
  }

  # Stands for this one server: an apply that was killed loses nothing, for the
  # next one takes it over.
  idempotency_key = "trainer"

  # "stopped" keeps the disk, and only the disk is billed.
  desired_state = "running"

  timeouts = {
    create = "45m"
  }
}

output "ssh" {
  # Null while it is stopped.
  value = try(gpurent_instance.trainer.ssh.command, null)
}
