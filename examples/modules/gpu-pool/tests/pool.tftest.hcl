# Run with "terraform test" or "tofu test". Every run stands on what the runs
# before it have left; at the end everything is destroyed.

# Shorter pauses than the usual 5 seconds: servers of the simulator boot quickly.
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

run "a_pool_that_may_cost_too_much_is_refused" {
  command = plan

  variables {
    size = 4
  }

  expect_failures = [var.max_total_kop_h]
}

run "the_cheapest_offer" {
  module {
    source = "./tests/account"
  }

  variables {
    now = {}
  }
}

# The price cap excludes extra disk, so the plan accepts this limit. The apply
# returns the real price, and fails.
run "a_server_that_costs_too_much_fails_the_apply" {
  variables {
    names           = ["big"]
    disk_gb         = 1000
    max_price_kop_h = run.the_cheapest_offer.cheapest_kop_h
    max_total_kop_h = run.the_cheapest_offer.cheapest_kop_h
  }

  expect_failures = [output.total_kop_h]
}

run "two_servers_are_rented" {
  assert {
    condition     = toset([for server in output.servers : server.status]) == toset(["running"]) && length(output.servers) == 2
    error_message = "The pool is ${jsonencode(output.servers)}."
  }

  assert {
    condition     = alltrue([for server in output.servers : startswith(server.ssh, "ssh ")])
    error_message = "There is no way in: ${jsonencode(output.servers)}"
  }

  assert {
    condition     = output.total_kop_h == sum([for server in output.servers : server.kop_h]) && output.monthly_kop == output.total_kop_h * 730
    error_message = "The sums are wrong: ${output.total_kop_h} an hour, ${output.monthly_kop} a month."
  }

  assert {
    condition     = gpurent_instance.server["01"].rented_offer_id != gpurent_instance.server["02"].rented_offer_id
    error_message = "Two servers have one offer."
  }
}

# Between runs only variables carry values in both CLIs, and only from the last
# run of each module: hence a module that has them.
run "the_service_has_two" {
  module {
    source = "./tests/account"
  }

  variables {
    now = run.two_servers_are_rented.servers
  }

  assert {
    condition     = output.agrees && length(output.ids) == 2
    error_message = "The service has ${jsonencode(output.ids)}, the pool says ${jsonencode(var.now)}."
  }
}

# What a plan creates or replaces has no id yet, what it starts, stops or waits for
# no status: then this would fail, for want of a value.
run "a_second_plan_changes_nothing" {
  command = plan

  assert {
    condition     = alltrue([for server in output.servers : server.id != "" && server.status == "running"])
    error_message = "The plan changes ${jsonencode(output.servers)}."
  }
}

# The servers exist: their real prices are known in the plan.
run "a_limit_below_the_real_price_fails_the_plan" {
  command = plan

  variables {
    max_price_kop_h = 1
    max_total_kop_h = 2
  }

  expect_failures = [output.total_kop_h]
}

run "a_third_server" {
  variables {
    size = 3
  }
}

run "leaves_the_others_alone" {
  module {
    source = "./tests/account"
  }

  variables {
    before = run.the_service_has_two.ids
    now    = run.a_third_server.servers
  }

  assert {
    condition     = output.agrees && length(output.ids) == 3
    error_message = "The service has ${jsonencode(output.ids)}, the pool says ${jsonencode(var.now)}."
  }

  assert {
    condition     = alltrue([for name, id in var.before : output.ids[name] == id])
    error_message = "A server was replaced: ${jsonencode(var.before)} became ${jsonencode(output.ids)}."
  }
}

run "a_parked_pool" {
  variables {
    size          = 3
    desired_state = "stopped"
  }

  assert {
    condition     = alltrue([for server in output.servers : server.status == "stopped" && server.ssh == null])
    error_message = "The pool is ${jsonencode(output.servers)}."
  }

  assert {
    condition     = output.total_kop_h == sum([for server in gpurent_instance.server : server.price.stopped_kop_h])
    error_message = "A parked pool costs ${output.total_kop_h} kopecks an hour, which is not its disks."
  }
}

run "keeps_its_servers" {
  module {
    source = "./tests/account"
  }

  variables {
    before = run.leaves_the_others_alone.ids
    now    = run.a_parked_pool.servers
  }

  assert {
    condition     = output.agrees && length(output.ids) == 3
    error_message = "The service has ${jsonencode(output.ids)}, the pool says ${jsonencode(var.now)}."
  }

  assert {
    condition     = alltrue([for name, id in var.before : output.ids[name] == id])
    error_message = "A server was replaced: ${jsonencode(var.before)} became ${jsonencode(output.ids)}."
  }
}

# By name, the one in the middle can go. The others start again.
run "two_names_of_three" {
  variables {
    names = ["01", "03"]
  }

  assert {
    condition     = length(output.servers) == 2 && alltrue([for server in output.servers : server.status == "running"])
    error_message = "The pool is ${jsonencode(output.servers)}."
  }
}

run "destroy_only_the_other" {
  module {
    source = "./tests/account"
  }

  variables {
    before = run.keeps_its_servers.ids
    now    = run.two_names_of_three.servers
  }

  assert {
    condition     = output.agrees && length(output.ids) == 2
    error_message = "The service has ${jsonencode(output.ids)}, the pool says ${jsonencode(var.now)}."
  }

  assert {
    condition     = alltrue([for name, id in output.ids : var.before[name] == id])
    error_message = "A server was replaced: ${jsonencode(var.before)} became ${jsonencode(output.ids)}."
  }
}

run "what_makes_no_sense_is_refused" {
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
