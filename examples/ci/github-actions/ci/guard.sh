#!/bin/sh
# Fails when a plan rents or destroys what its review has not shown.
#
#   ci/guard.sh COSTS REVIEWED
#
# COSTS is what costs.jq says of the plan that is about to be applied; REVIEWED what
# it said in the review, and empty where there was none. To start, stop or rename a
# server needs no review: to put right what the market did is what an apply is for.
set -eu
export LC_ALL=C

# What is rented and destroyed, one a line.
grave() { sed -n 's/^<!-- reviewed: \(.*\) -->\r*$/\1/p' "$1" | base64 -d | sort; }

grep -q '^<!-- reviewed: ' "$1" || {
  echo "$0: $1 does not say what the plan does" >&2
  exit 1
}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
grave "$1" >"$folder/planned"
grave "$2" >"$folder/reviewed"
comm -23 "$folder/planned" "$folder/reviewed" >"$folder/new"
if [ -s "$folder/new" ]; then
  echo "The plan does what its review has not shown:" >&2
  sed 's/^/  /' "$folder/new" >&2
  echo "Nothing was applied. If it is right, start this pipeline by hand." >&2
  exit 1
fi
