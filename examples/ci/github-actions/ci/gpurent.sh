#!/bin/sh
# Runs the program of the provider, which init has downloaded, as a command.
#
#   ci/gpurent.sh cost plan.json   or another command with its arguments
set -eu

if [ $# -eq 0 ]; then
  sed -n '4s/^#   /usage: /p' "$0" >&2
  exit 2
fi

# The folder can contain other versions, for example from a cache. The lock file has the version that init selected.
folder=${TF_DATA_DIR:-.terraform}/providers
# shellcheck disable=SC2013 # a version is one word
for version in $(sed -n '/\/gpurent\/gpurent"/,/^}/s/^ *version *= *"\(.*\)"/\1/p' .terraform.lock.hcl 2>/dev/null); do
  for program in "$folder"/*/gpurent/gpurent/"$version"/*/terraform-provider-gpurent*; do
    if [ -x "$program" ]; then exec "$program" "$@"; fi
  done
done
echo "$folder does not contain the provider gpurent/gpurent: run init first" >&2
exit 1
