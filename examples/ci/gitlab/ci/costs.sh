#!/bin/sh
# Writes the changes of saved.plan and their costs to costs.md, as Markdown.
#
#   TF=terraform ci/costs.sh
set -eu

"$TF" show -json saved.plan >plan.json
jq -r -f "$(dirname "$0")/costs.jq" plan.json >costs.md
