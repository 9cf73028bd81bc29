#!/bin/sh
# Breaks the service in the ways in which a marketplace breaks, and fails unless
# the configuration in this folder survives each of them with the same server.
#
#   ./with-simulator.sh --time-scale 60 --market still -- ./trouble.sh
#
# TF names the program: terraform, which is the default, or tofu. It needs curl.
set -eu
cd "$(dirname "$0")"
TF=${TF:-terraform}
export TF_INPUT=0 TF_VAR_type=interruptible

say() { printf '\n== %s\n' "$*"; }
fail() {
  echo "$0: $*" >&2
  exit 1
}

# control METHOD PATH BODY calls the simulator's control API.
control() {
  curl -fsS -X "$1" -H 'Content-Type: application/json' -d "$3" "$GPURENT_CONTROL_URL$2"
  echo
}

# servers lists the account's servers as the service knows them, one a line.
servers() {
  curl -fsS -H "Authorization: Bearer $GPURENT_API_KEY" "$GPURENT_BASE_URL/instances" | grep -o '"id":"ins_[^"]*"' || :
}

# acted STATUS: a fault that never happened proves nothing.
acted() {
  curl -fsS "$GPURENT_CONTROL_URL/requests" | grep -q "\"status\":$1," || fail "no request ended with $1"
}

# finds CODE: whether a plan finds nothing to do (0) or something (2).
finds() {
  code=0
  $TF plan -detailed-exitcode || code=$?
  [ "$code" -eq "$1" ] || fail "the plan ended with $code, not $1"
}

# healed: one apply brings the server back, and it is the same one.
healed() {
  finds 2
  $TF apply -auto-approve
  [ "$($TF output -raw id)" = "$id" ] || fail "the server was replaced: its disk is lost"
  finds 0
}

say "The answer to the rental is lost: the connection is cut after the work is done"
control POST /faults '{"method": "POST", "path": "/instances", "drop": "after", "times": 1}'
$TF apply -auto-approve
id=$($TF output -raw id)
[ "$(servers)" = "\"id\":\"$id\"" ] || fail "the service has other servers than the state: $(servers)"
acted 0 # no answer at all

say "The request limit is reached, and the service is away for a moment"
control POST /faults '{"method": "GET", "path": "/instances", "status": 429, "times": 1}'
control POST /faults '{"path": "/", "status": 503, "times": 2}'
finds 0
acted 429
acted 503

say "Someone bids more, and the server is outbid"
control PATCH "/instances/$id" '{"status": "outbid"}'
healed

say "The money runs out, and is topped up"
control PATCH /account '{"balance_kop": 1000}'
control POST /clock '{"advance_seconds": 3600}'
control PATCH /account '{"balance_kop": 5000000}'
healed

say "Everything is destroyed"
$TF destroy -auto-approve
[ -z "$(servers)" ] || fail "servers are left: $(servers)"
say "It survived"
