#!/bin/sh
# The story of "make demo": servers from plan to destroy. It ends with an error if a step does not print its text.
#
# TF is the CLI, and GPURENT_PROVIDER the program of the provider. The folder has the configuration of examples/team.
# In the simulator, an hour takes a second.
set -eu

fail() {
  echo "$*" >&2
  exit 1
}

# step NAME TEXT ARGUMENT...: a command of the CLI, which must print a line that begins with the text.
step() {
  name=$1 text=$2
  shift 2
  if ! "$TF" "$@" -no-color >log 2>&1 || ! grep -q "^$text" log; then
    cat log >&2
    fail "$name: the output has no \"$text\""
  fi
  printf '%-10s %s\n' "$name" "$(grep "^$text" log)"
}

# evaluate EXPRESSION: the lines of a text that the state contains.
evaluate() { printf '%s' "$1" | tr '\n' ' ' | "$TF" console | grep -v -e '^<<' -e '^EOT$' -e '^$' | tr -d '"'; }

# servers STATUSES: the servers with their prices, and an error if their statuses are others.
servers() {
  evaluate 'join("\n", [for name, s in gpurent_instance.server : format(
    "           %s  %-7s  %6.2f ₽ per hour  %d x %s, %s",
    name, s.status, (s.status == "running" ? s.price.running_kop_h : s.price.stopped_kop_h) / 100,
    s.gpu.count, s.gpu.name, coalesce(s.country, "unknown country")
  )])'
  test "$1" = "$(evaluate 'join(" ", values(gpurent_instance.server)[*].status)')" || fail "want $1"
}

# balance: what is left of the account's balance.
balance() {
  step balance 'Apply complete! Resources: 0 added, 0 changed, 0 destroyed' apply -auto-approve -refresh-only >/dev/null
  evaluate 'format("balance    %s ₽", replace(
    format("%.2f", data.gpurent_balance.now.available_kop / 100), "/([0-9])([0-9]{3}[.])/", "$1,$2"))'
}

step plan 'Plan: 5 to add, 0 to change, 0 to destroy' plan -out=saved.plan
"$TF" show -json saved.plan >plan.json
"$GPURENT_PROVIDER" cost plan.json >costs
head -n 3 costs
step apply 'Apply complete! Resources: 5 added, 0 changed, 0 destroyed' apply saved.plan
servers 'running running'
step 'plan again' 'No changes' plan -detailed-exitcode
balance
step 'stop one' 'Apply complete! Resources: 0 added, 1 changed, 0 destroyed' apply -auto-approve '-var=stopped=["trainer-2"]'
servers 'running stopped'
sleep 1
step 'start it' 'Apply complete! Resources: 0 added, 1 changed, 0 destroyed' apply -auto-approve
servers 'running running'
balance
step destroy 'Destroy complete! Resources: 5 destroyed' destroy -auto-approve
"$TF" show -json >state.json
"$GPURENT_PROVIDER" unmanaged state.json
