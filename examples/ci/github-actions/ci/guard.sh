#!/bin/sh
# Fails if a plan contains changes that the review did not show.
#
#   ci/guard.sh COSTS REVIEWED
#
# COSTS is the output of costs.jq for the plan to apply. REVIEWED is its output in
# the review, or an empty file if there was none. The review must have shown every
# created, replaced, forgotten and destroyed server, and every new API key, SSH key
# and template, with the same arguments. A price cap may be lower than in the
# review, but not higher. Starts, stops and renames need no review, so that an apply
# can restart servers that were outbid or stopped.
set -eu

refused=$(jq -nr --rawfile costs "$1" --rawfile reviewed "$2" '
  # The changes in the list at the end of a comment; null without a list.
  def changes:
    [split("\n")[] | capture("^<!-- reviewed: (?<list>\\S+) -->\r*$").list | @base64d | fromjson][0]
    | if . == null then . else [.[] | .addresses[] as $address | del(.addresses) + {$address}] end;

  # References to other resources of the plan, which the review also showed.
  def is_reference($argument): . == "(known after apply)" and ($argument == "template" or $argument == "ssh_key_ids");

  # The reason to refuse a change, or nothing. The input is the change in the review.
  def refusal($planned):
    . as $shown
    | if ($planned | has("max_price_kop_h")) and $planned.max_price_kop_h == null then "no price cap"
      elif . == null then "not in the review"
      elif $planned.max_price_kop_h > .max_price_kop_h then
        "the price cap is \($planned.max_price_kop_h) kopecks per hour, but \(.max_price_kop_h) in the review"
      else
        [$planned.arguments // {} | to_entries[] | .key as $argument | $shown.arguments[$argument] as $seen
          | select(.value != $seen and ($seen | is_reference($argument) | not)) | $argument]
        | if . == [] then empty else "different from the review: \(join(", "))" end
      end;

  ([$reviewed | try changes catch null][0] // []) as $shown
  | $costs | changes // error("the costs contain no list of changes")
  | .[] as $planned
  | [$shown[] | select(.does == $planned.does and .address == $planned.address)][0]
  | refusal($planned)
  | "  \($planned.does) \($planned.address | gsub("[[:cntrl:]]"; "?")): \(.)"')

if [ -n "$refused" ]; then
  echo "The plan contains changes that the review did not show:" >&2
  printf '%s\n' "$refused" >&2
  echo "Nothing was applied. To apply without a review, see the README." >&2
  exit 1
fi
