#!/bin/sh
# GitLab API requests of the pipeline. Requires curl, jq and GITLAB_TOKEN.
#
#   ci/gitlab.sh note REQUEST FILE   creates or updates the note on a merge request
#   ci/gitlab.sh reviewed COMMIT     prints the note on the merge request of a merged commit
#   ci/gitlab.sh issue FILE          creates or updates the issue of the nightly check
#   ci/gitlab.sh close               closes that issue
set -eu

# The first line of the note. Other users could copy it, so the author is compared, too.
marker='<!-- gpurent costs -->'
# The title and the label of the issue.
title='Servers differ from the configuration'
label=drift

# api METHOD PATH [CURL ARGUMENTS...]
api() {
  method=$1 path=$2
  shift 2
  curl -fsS -X "$method" -H "PRIVATE-TOKEN: $GITLAB_TOKEN" "$@" "$CI_API_V4_URL$path"
}

# send METHOD PATH sends JSON from the standard input.
send() { api "$1" "$2" -H 'Content-Type: application/json' --data-binary @- >/dev/null; }

project=/projects/$CI_PROJECT_ID

# own_id prints the number of the user that GITLAB_TOKEN belongs to.
own_id() {
  user=$(api GET /user)
  printf '%s' "$user" | jq .id
}

# find_note REQUEST prints the note on a merge request as JSON, or nothing.
find_note() {
  author=$(own_id)
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

# open_issue prints the number of the open issue, or nothing.
open_issue() {
  author=$(own_id)
  issues=$(api GET "$project/issues?state=opened&labels=$label&author_id=$author&per_page=100")
  printf '%s' "$issues" |
    jq -r --arg title "$title" --argjson author "$author" 'first(.[] | select(.title == $title and .author.id == $author)) | .iid'
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
issue)
  number=$(open_issue)
  if [ -n "$number" ]; then
    jq -n --rawfile description "$2" '{$description}' | send PUT "$project/issues/$number"
  else
    jq -n --rawfile description "$2" --arg title "$title" --arg labels "$label" '{$title, $description, $labels}' |
      send POST "$project/issues"
  fi
  ;;
close)
  number=$(open_issue)
  if [ -n "$number" ]; then echo '{"state_event": "close"}' | send PUT "$project/issues/$number"; fi
  ;;
*)
  sed -n '4,7s/^#   /usage: /p' "$0" >&2
  exit 2
  ;;
esac
