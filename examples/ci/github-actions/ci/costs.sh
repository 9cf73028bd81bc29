#!/bin/sh
# Writes costs.md: what saved.plan does to the servers and to the bill, as Markdown.
#
#   TF=terraform ci/costs.sh
set -eu

"$TF" show -json saved.plan >plan.json
jq -r -f "$(dirname "$0")/costs.jq" plan.json >costs.md
