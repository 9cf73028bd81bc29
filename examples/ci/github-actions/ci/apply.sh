#!/bin/sh
# Applies saved.plan if the review showed its changes.
#
#   ci/apply.sh REVIEWED       REVIEWED is the comment of the review; empty if there was none
#   ci/apply.sh --unreviewed   applies without a review
#
# TF is the CLI: terraform or tofu. LOCK_TIMEOUT is the maximum wait for the lock of
# the state.
set -eu

case ${1-} in
--unreviewed) ;;
'' | -*)
  sed -n '4,5s/^#   /usage: /p' "$0" >&2
  exit 2
  ;;
*)
  # An existing plan.json could belong to another plan.
  "$TF" show -json saved.plan >plan.json
  code=0
  sh "$(dirname "$0")/gpurent.sh" cost plan.json --reviewed "$1" || code=$?
  if [ "$code" -ne 0 ]; then
    echo "Nothing was applied. To apply without a review, see the README." >&2
    exit "$code"
  fi
  ;;
esac

# With exec, the CLI receives the signals to the first process of the job. It then
# saves the state, releases the lock and revokes the key of the run.
exec "$TF" apply -lock-timeout="$LOCK_TIMEOUT" saved.plan
