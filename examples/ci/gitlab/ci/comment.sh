#!/bin/sh
# Creates or updates the note with the costs on a merge request. Requires curl, jq and
# GITLAB_TOKEN.
#
#   ci/comment.sh REQUEST FILE
set -eu

# The first line of the note. Other users could copy it, so the author is compared, too.
marker='<!-- gpurent costs -->'

# api METHOD PATH [CURL ARGUMENTS...]
api() {
  method=$1 path=$2
  shift 2
  curl -fsS -X "$method" -H "PRIVATE-TOKEN: $GITLAB_TOKEN" "$@" "$CI_API_V4_URL$path"
}

# send METHOD PATH sends JSON from the standard input.
send() { api "$1" "$2" -H 'Content-Type: application/json' --data-binary @- >/dev/null; }

project=/projects/$CI_PROJECT_ID

# find_note REQUEST prints the id of the note on a merge request, or nothing.
find_note() {
  user=$(api GET /user)
  author=$(printf '%s' "$user" | jq .id)
  page=1
  while :; do
    notes=$(api GET "$project/merge_requests/$1/notes?sort=asc&per_page=100&page=$page")
    found=$(printf '%s' "$notes" | jq --arg marker "$marker" --argjson author "$author" \
      'first(.[] | select(.author.id == $author and (.body | startswith($marker)))) | .id')
    if [ -n "$found" ] || [ "$(printf '%s' "$notes" | jq length)" -lt 100 ]; then
      printf '%s\n' "$found"
      return
    fi
    page=$((page + 1))
  done
}

id=$(find_note "$1")
if [ -n "$id" ]; then
  jq -n --rawfile body "$2" '{$body}' | send PUT "$project/merge_requests/$1/notes/$id"
else
  jq -n --rawfile body "$2" '{$body}' | send POST "$project/merge_requests/$1/notes"
fi
