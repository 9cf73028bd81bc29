#!/bin/sh
# Fails when a plan does what its review has not shown.
#
#   ci/guard.sh COSTS REVIEWED
#
# COSTS is what costs.jq prints for the plan that is about to be applied. REVIEWED
# is what it printed in the review, and empty if there was none. The review must
# have shown every server that is rented, replaced, forgotten or destroyed and every
# new API key, SSH key and template, with the same arguments. A price cap may be
# lower than in the review, never higher. Starts, stops and renames need no review:
# an apply is there to undo what the market did.
set -eu

refused=$(jq -nr --rawfile costs "$1" --rawfile reviewed "$2" '
  # The changes in the list that costs.jq has put into a comment; null without a list.
  def changes:
    [split("\n")[] | capture("^<!-- reviewed: (?<list>\\S+) -->\r*$").list | @base64d | fromjson][0]
    | if . == null then . else [.[] | .addresses[] as $address | del(.addresses) + {$address}] end;

  # References to other resources of the plan, which the review has shown, too.
  def later($argument): . == "(known after apply)" and ($argument == "template" or $argument == "ssh_key_ids");

  # Why a change is refused, or nothing. The input is what the review has shown of it.
  def refusal($planned):
    . as $shown
    | if ($planned | has("max_price_kop_h")) and $planned.max_price_kop_h == null then "it has no price cap"
      elif . == null then "the review has not shown it"
      elif $planned.max_price_kop_h > .max_price_kop_h then
        "its price cap is \($planned.max_price_kop_h) kopecks an hour, the reviewed one \(.max_price_kop_h)"
      else
        [$planned.arguments // {} | to_entries[] | .key as $argument | $shown.arguments[$argument] as $seen
          | select(.value != $seen and ($seen | later($argument) | not)) | $argument]
        | if . == [] then empty else "the review has shown another \(join(", "))" end
      end;

  ([$reviewed | try changes catch null][0] // []) as $shown
  | $costs | changes // error("the costs do not list what the plan does")
  | .[] as $planned
  | [$shown[] | select(.does == $planned.does and .address == $planned.address)][0]
  | refusal($planned)
  | "  \($planned.does) \($planned.address | gsub("[[:cntrl:]]"; "?")): \(.)"')

if [ -n "$refused" ]; then
  echo "The plan does what its review has not shown:" >&2
  printf '%s\n' "$refused" >&2
  echo "Nothing was applied. The README shows how to apply it without a review." >&2
  exit 1
fi
