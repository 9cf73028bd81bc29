#!/bin/sh
# Talks to GitLab for the pipeline. It needs curl, jq, and GITLAB_TOKEN.
#
#   ci/gitlab.sh note REQUEST FILE   one note on a merge request, updated
#   ci/gitlab.sh reviewed COMMIT     prints that note of the merge request that the commit merged
set -eu

# What our note begins with. Others may write the same words: we look who it was.
marker='<!-- gpurent costs -->'

# api METHOD PATH [CURL ARGUMENTS...]
api() {
  method=$1 path=$2
  shift 2
  curl -fsS -X "$method" -H "PRIVATE-TOKEN: $GITLAB_TOKEN" "$@" "$CI_API_V4_URL$path"
}

# send METHOD PATH sends the JSON on stdin.
send() { api "$1" "$2" -H 'Content-Type: application/json' --data-binary @- >/dev/null; }

project=/projects/$CI_PROJECT_ID

# ours REQUEST prints our note as JSON, or nothing.
ours() {
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
  note=$(ours "$2")
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
    note=$(ours "$request")
    printf '%s' "$note" | jq -r .body
  fi
  ;;
*)
  sed -n '4,5s/^#   /usage: /p' "$0" >&2
  exit 2
  ;;
esac
