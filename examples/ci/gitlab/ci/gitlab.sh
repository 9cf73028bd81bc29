#!/bin/sh
# GitLab API requests of the pipeline. Requires curl, jq and GITLAB_TOKEN.
#
#   ci/gitlab.sh note REQUEST FILE   creates or updates the note on a merge request
#   ci/gitlab.sh reviewed COMMIT     prints the note on the merge request of a merged commit
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

# find_note REQUEST prints the note on a merge request as JSON, or nothing.
find_note() {
  user=$(api GET /user)
  author=$(printf '%s' "$user" | jq .id)
  page=1
  while :; do
    notes=$(api GET "$project/merge_requests/$1/notes?sort=asc&per_page=100&page=$page")
    found=$(printf '%s' "$notes" | jq -c --arg marker "$marker" --argjson author "$author" \
      'first(.[] | select(.author.id == $author and (.body | startswith($marker))))')
    if [ -n "$found" ] || [ "$(printf '%s' "$notes" | jq length)" -lt 100 ]; then
      printf '%s\n' "$found"
      return
    fi
    page=$((page + 1))
  done
}

case ${1-} in
note)
  note=$(find_note "$2")
  id=$(printf '%s' "$note" | jq .id)
  if [ -n "$id" ]; then
    jq -n --rawfile body "$3" '{$body}' | send PUT "$project/merge_requests/$2/notes/$id"
  else
    jq -n --rawfile body "$3" '{$body}' | send POST "$project/merge_requests/$2/notes"
  fi
  ;;
reviewed)
  requests=$(api GET "$project/repository/commits/$2/merge_requests")
  request=$(printf '%s' "$requests" | jq -r 'first(.[] | select(.state == "merged")) | .iid')
  if [ -n "$request" ]; then
    note=$(find_note "$request")
    printf '%s' "$note" | jq -r .body
  fi
  ;;
*)
  sed -n '4,5s/^#   /usage: /p' "$0" >&2
  exit 2
  ;;
esac
