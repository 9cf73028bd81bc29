#!/bin/sh
# Applies saved.plan if the review showed its changes.
#
#   ci/apply.sh REVIEWED       REVIEWED is the file costs.md of the review; empty if there was none
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
  # An existing costs.md could belong to another plan.
  sh "$(dirname "$0")/costs.sh"
  sh "$(dirname "$0")/guard.sh" costs.md "$1"
  ;;
esac

# With exec, the CLI receives the signals to the first process of the job. It then
# saves the state, releases the lock and revokes the key of the run.
exec "$TF" apply -lock-timeout="$LOCK_TIMEOUT" saved.plan
