#!/bin/sh
# Writes issue.md: the billed servers of the account that no state contains, and what
# the next apply would change. The file is empty if there is neither.
#
#   ci/drift.sh [STATE.json...]   further states of the account, each as written by "show -json"
#
# A server that an apply rents at the same time can be missing from the
# state. The next check does not list it.
#
# TF is the CLI: terraform or tofu.
set -eu

gpurent=$(dirname "$0")/gpurent.sh
: >issue.md

# No lock: a plan does not write the state.
planned=0
"$TF" plan -lock=false -detailed-exitcode -out=saved.plan || planned=$?
case $planned in
0 | 2) ;;
*) exit "$planned" ;;
esac

"$TF" show -json >state.json
code=0
sh "$gpurent" unmanaged state.json "$@" >unmanaged.txt || code=$?
cat unmanaged.txt
case $code in
0) ;;
2)
  test -s unmanaged.txt || exit 2 # a usage error
  {
    printf '### Billed servers that no state tracks\n\n```text\n'
    cat unmanaged.txt
    printf '```\n\n'
  } >>issue.md
  ;;
*) exit "$code" ;;
esac

if [ "$planned" -eq 2 ]; then
  "$TF" show -json saved.plan >plan.json
  # Without the list for a review, in the last line.
  sh "$gpurent" cost plan.json --format markdown >costs.md
  sed '/^<!-- gpurent cost/d' costs.md >>issue.md
fi
