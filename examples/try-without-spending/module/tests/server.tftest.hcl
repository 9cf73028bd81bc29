# Run with "terraform test" or "tofu test". Every run stands on what the runs
# before it have left; at the end everything is destroyed.

# Shorter pauses than the usual 5 seconds: servers of the simulator boot quickly.
provider "gpurent" {
  poll_interval = "200ms"
}

variables {
  name = "test"
}

run "a_server_runs_and_can_be_reached" {
  assert {
    condition     = output.status == "running"
    error_message = "The server is ${output.status}."
  }

  assert {
    condition     = startswith(output.ssh, "ssh ")
    error_message = "There is no way in: ${coalesce(output.ssh, "null")}"
  }

  assert {
    condition     = data.gpurent_offers.cheapest.offers[0].price.on_demand_kop_h <= var.max_price_kop_h
    error_message = "The offer is above the price cap."
  }
}

run "stopping_keeps_the_server" {
  command = plan

  variables {
    running = false
  }

  # Were it to be replaced, the id would not be known yet, and this would fail.
  assert {
    condition     = output.id != ""
    error_message = "The stop replaces the server: its disk would be lost."
  }
}

run "a_stopped_server_costs_less" {
  variables {
    running = false
  }

  assert {
    condition     = output.status == "stopped" && output.ssh == null
    error_message = "The server is ${output.status}."
  }

  assert {
    condition     = output.price_kop_h < gpurent_instance.server.price.running_kop_h
    error_message = "A stopped server costs as much as a running one."
  }
}

run "it_starts_again" {
  assert {
    condition     = output.status == "running"
    error_message = "The server is ${output.status}."
  }
}

run "a_disk_that_is_too_small_is_refused" {
  command = plan

  variables {
    disk_gb = 10
  }

  expect_failures = [var.disk_gb]
}
