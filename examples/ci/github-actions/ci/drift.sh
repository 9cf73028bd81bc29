#!/bin/sh
# Fails if the next apply would change something (2), or if no state tracks a billed
# server of the account (3). Prints what it finds.
#
#   ci/drift.sh [STATE.json...]   further states of the account, each as written by "show -json"
#
# A server that an apply rents at the same time can be missing from the state. The next
# check does not list it.
#
# TF is the CLI: terraform or tofu.
set -eu

gpurent=$(dirname "$0")/gpurent.sh

# No lock: a plan does not write the state.
found=0
"$TF" plan -lock=false -detailed-exitcode -out=saved.plan || found=$?
if [ "$found" -eq 1 ]; then exit 1; fi

"$TF" show -json >state.json
sh "$gpurent" unmanaged state.json "$@" || found=$?
exit "$found"
