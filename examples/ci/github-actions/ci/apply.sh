#!/bin/sh
# Applies saved.plan, if its review has shown what the plan does.
#
#   ci/apply.sh REVIEWED       REVIEWED is the costs.md of the review, empty without a review
#   ci/apply.sh --unreviewed   applies without a review
#
# TF names the CLI: terraform or tofu. LOCK_TIMEOUT limits the wait for the state.
set -eu

case ${1-} in
--unreviewed) ;;
'' | -*)
  sed -n '4,5s/^#   /usage: /p' "$0" >&2
  exit 2
  ;;
*)
  # From the plan itself: another costs.md could be of another plan.
  sh "$(dirname "$0")/costs.sh"
  sh "$(dirname "$0")/guard.sh" costs.md "$1"
  ;;
esac

# With exec, a signal to the job's first process reaches the CLI, which then saves
# its state, releases the lock and revokes its key.
exec "$TF" apply -lock-timeout="$LOCK_TIMEOUT" saved.plan
