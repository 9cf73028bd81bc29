# Run with "terraform test" or "tofu test". Each run continues with the servers of the
# previous runs. At the end, all servers are destroyed.

# Shorter than the default of 5 seconds, because servers of the simulator boot quickly.
provider "gpurent" {
  poll_interval = "200ms"
}

variables {
  name            = "test"
  size            = 2
  max_price_kop_h = 9000
  max_total_kop_h = 27000
  offer_query     = { gpu = ["rtx_4090"], num_gpus = [1] }
}

run "caps_above_total_limit_fail_plan" {
  command = plan

  variables {
    size = 4
  }

  expect_failures = [var.max_total_kop_h]
}

run "cheapest_offer" {
  module {
    source = "./tests/account"
  }

  variables {
    now = {}
  }
}

# The price cap excludes extra disk, so the plan accepts this limit. The apply fails
# when the actual price is known.
run "price_above_total_limit_fails_apply" {
  variables {
    names           = ["big"]
    disk_gb         = 1000
    max_price_kop_h = run.cheapest_offer.cheapest_kop_h
    max_total_kop_h = run.cheapest_offer.cheapest_kop_h
  }

  expect_failures = [output.total_kop_h]
}

run "create_two_servers" {
  assert {
    condition     = toset([for server in output.servers : server.status]) == toset(["running"]) && length(output.servers) == 2
    error_message = "Unexpected servers: ${jsonencode(output.servers)}."
  }

  assert {
    condition     = alltrue([for server in output.servers : startswith(server.ssh, "ssh ")])
    error_message = "A server has no SSH command: ${jsonencode(output.servers)}."
  }

  assert {
    condition     = output.total_kop_h == sum([for server in output.servers : server.kop_h]) && output.monthly_kop == output.total_kop_h * 730
    error_message = "Wrong totals: ${output.total_kop_h} kopecks per hour, ${output.monthly_kop} kopecks per month."
  }

  assert {
    condition     = gpurent_instance.server["01"].rented_offer_id != gpurent_instance.server["02"].rented_offer_id
    error_message = "Both servers have the same offer."
  }
}

# In both CLIs, a run receives values of earlier runs only through variables, and only
# from the last run of each module. Therefore a separate module reads the ids.
run "api_returns_two_servers" {
  module {
    source = "./tests/account"
  }

  variables {
    now = run.create_two_servers.servers
  }

  assert {
    condition     = output.agrees && length(output.ids) == 2
    error_message = "The API returns ${jsonencode(output.ids)}, but the output of the pool is ${jsonencode(var.now)}."
  }
}

# The id is unknown if the plan creates or replaces a server. The status is unknown if
# the plan starts, stops or waits for a server. The assertion fails on unknown values.
run "second_plan_has_no_changes" {
  command = plan

  assert {
    condition     = alltrue([for server in output.servers : server.id != "" && server.status == "running"])
    error_message = "The plan changes servers: ${jsonencode(output.servers)}."
  }
}

# The servers exist, so their actual prices are known in the plan.
run "price_above_total_limit_fails_plan" {
  command = plan

  variables {
    max_price_kop_h = 1
    max_total_kop_h = 2
  }

  expect_failures = [output.total_kop_h]
}

run "add_third_server" {
  variables {
    size = 3
  }
}

run "third_server_keeps_others" {
  module {
    source = "./tests/account"
  }

  variables {
    before = run.api_returns_two_servers.ids
    now    = run.add_third_server.servers
  }

  assert {
    condition     = output.agrees && length(output.ids) == 3
    error_message = "The API returns ${jsonencode(output.ids)}, but the output of the pool is ${jsonencode(var.now)}."
  }

  assert {
    condition     = alltrue([for name, id in var.before : output.ids[name] == id])
    error_message = "A server was replaced. Before: ${jsonencode(var.before)}. Now: ${jsonencode(output.ids)}."
  }
}

run "stop_all_servers" {
  variables {
    size          = 3
    desired_state = "stopped"
  }

  assert {
    condition     = alltrue([for server in output.servers : server.status == "stopped" && server.ssh == null])
    error_message = "Unexpected servers: ${jsonencode(output.servers)}."
  }

  assert {
    condition     = output.total_kop_h == sum([for server in gpurent_instance.server : server.price.stopped_kop_h])
    error_message = "The stopped pool costs ${output.total_kop_h} kopecks per hour, which is not the price of its disks."
  }
}

run "stop_keeps_servers" {
  module {
    source = "./tests/account"
  }

  variables {
    before = run.third_server_keeps_others.ids
    now    = run.stop_all_servers.servers
  }

  assert {
    condition     = output.agrees && length(output.ids) == 3
    error_message = "The API returns ${jsonencode(output.ids)}, but the output of the pool is ${jsonencode(var.now)}."
  }

  assert {
    condition     = alltrue([for name, id in var.before : output.ids[name] == id])
    error_message = "A server was replaced. Before: ${jsonencode(var.before)}. Now: ${jsonencode(output.ids)}."
  }
}

# With names, any server can be removed. The other servers start again.
run "remove_second_server" {
  variables {
    names = ["01", "03"]
  }

  assert {
    condition     = length(output.servers) == 2 && alltrue([for server in output.servers : server.status == "running"])
    error_message = "Unexpected servers: ${jsonencode(output.servers)}."
  }
}

run "removal_keeps_others" {
  module {
    source = "./tests/account"
  }

  variables {
    before = run.stop_keeps_servers.ids
    now    = run.remove_second_server.servers
  }

  assert {
    condition     = output.agrees && length(output.ids) == 2
    error_message = "The API returns ${jsonencode(output.ids)}, but the output of the pool is ${jsonencode(var.now)}."
  }

  assert {
    condition     = alltrue([for name, id in output.ids : var.before[name] == id])
    error_message = "A server was replaced. Before: ${jsonencode(var.before)}. Now: ${jsonencode(output.ids)}."
  }
}

run "invalid_values_fail_plan" {
  command = plan

  variables {
    size                   = 1.5
    names                  = ["with spaces"]
    type                   = "spot"
    max_price_kop_h        = 0
    disk_gb                = 5
    desired_state          = "asleep"
    on_outbid              = "weep"
    idempotency_key_prefix = ""
  }

  expect_failures = [
    var.size, var.names, var.type, var.max_price_kop_h, var.disk_gb, var.desired_state, var.on_outbid, var.idempotency_key_prefix,
  ]
}
