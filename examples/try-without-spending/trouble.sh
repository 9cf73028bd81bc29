#!/bin/sh
# Injects the typical faults of a marketplace, and fails unless the configuration in
# this folder recovers from each of them and keeps the same server.
#
#   ./with-simulator.sh --time-scale 60 --market still -- ./trouble.sh
#
# TF is the CLI: terraform (the default) or tofu. The script requires curl.
set -eu
cd "$(dirname "$0")"
TF=${TF:-terraform}
export TF_INPUT=0 TF_VAR_type=interruptible

log() { printf '\n== %s\n' "$*"; }
fail() {
  echo "$0: $*" >&2
  exit 1
}

# control METHOD PATH BODY calls the simulator's control API.
control() {
  curl -fsS -X "$1" -H 'Content-Type: application/json' -d "$3" "$GPURENT_CONTROL_URL$2"
  echo
}

# servers prints the ids of the account's servers in the API, one per line.
servers() {
  curl -fsS -H "Authorization: Bearer $GPURENT_API_KEY" "$GPURENT_BASE_URL/instances" | grep -o '"id":"ins_[^"]*"' || :
}

# require_status STATUS fails unless a request ended with this status, which proves that
# the fault was injected. The status is 0 for a request without a response.
require_status() {
  curl -fsS "$GPURENT_CONTROL_URL/requests" | grep -q "\"status\":$1," || fail "no request ended with status $1"
}

# require_plan CODE fails unless the plan has no changes (0), or changes (2).
require_plan() {
  code=0
  $TF plan -detailed-exitcode || code=$?
  [ "$code" -eq "$1" ] || fail "the plan ended with exit code $code, expected $1"
}

# apply_restores_server fails unless one apply restores the same server.
apply_restores_server() {
  require_plan 2
  $TF apply -auto-approve
  [ "$($TF output -raw id)" = "$id" ] || fail "the server was replaced, and the data on the disk is lost"
  require_plan 0
}

log "Lost response: the server is created, and the connection breaks before the response"
control POST /faults '{"method": "POST", "path": "/instances", "drop": "after", "times": 1}'
$TF apply -auto-approve
id=$($TF output -raw id)
[ "$(servers)" = "\"id\":\"$id\"" ] || fail "the servers in the API differ from the state: $(servers)"
require_status 0

log "Rate limit, and a short outage"
control POST /faults '{"method": "GET", "path": "/instances", "status": 429, "times": 1}'
control POST /faults '{"path": "/", "status": 503, "times": 2}'
require_plan 0
require_status 429
require_status 503

log "Outbid server"
control PATCH "/instances/$id" '{"status": "outbid"}'
apply_restores_server

log "Balance used up, then increased"
control PATCH /account '{"balance_kop": 1000}'
control POST /clock '{"advance_seconds": 3600}'
control PATCH /account '{"balance_kop": 5000000}'
apply_restores_server

log "Destroy"
$TF destroy -auto-approve
[ -z "$(servers)" ] || fail "servers still exist: $(servers)"
log "All faults were recovered"
