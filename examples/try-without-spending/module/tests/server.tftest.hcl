# Run with "terraform test" or "tofu test". Each run continues with the servers of the
# previous runs. At the end, all servers are destroyed.

# Shorter than the default of 5 seconds, because servers of the simulator boot quickly.
provider "gpurent" {
  poll_interval = "200ms"
}

variables {
  name        = "test"
  ssh_key_ids = []
}

run "server_runs_with_ssh" {
  assert {
    condition     = output.status == "running"
    error_message = "The server is ${output.status}."
  }

  assert {
    condition     = startswith(output.ssh, "ssh ")
    error_message = "Unexpected SSH command: ${coalesce(output.ssh, "null")}."
  }

  assert {
    condition     = data.gpurent_offers.cheapest.offers[0].price.on_demand_kop_h <= var.max_price_kop_h
    error_message = "The offer is above the price cap."
  }
}

run "stop_keeps_server" {
  command = plan

  variables {
    running = false
  }

  # If the plan replaces the server, the id is unknown and the assertion fails.
  assert {
    condition     = output.id != ""
    error_message = "The stop replaces the server. The data on the disk would be lost."
  }
}

run "stopped_server_costs_less" {
  variables {
    running = false
  }

  assert {
    condition     = output.status == "stopped" && output.ssh == null
    error_message = "The server is ${output.status}."
  }

  assert {
    condition     = output.price_kop_h < gpurent_instance.server.price.running_kop_h
    error_message = "The stopped server does not cost less than a running one."
  }
}

run "server_starts_again" {
  assert {
    condition     = output.status == "running"
    error_message = "The server is ${output.status}."
  }
}

run "small_disk_fails_plan" {
  command = plan

  variables {
    disk_gb = 10
  }

  expect_failures = [var.disk_gb]
}
