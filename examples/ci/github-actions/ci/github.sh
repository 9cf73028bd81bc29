#!/bin/sh
# GitHub API requests of the workflows. Requires curl, jq and GITHUB_TOKEN.
#
#   ci/github.sh comment PULL FILE   creates or updates the comment on a pull request
#   ci/github.sh reviewed COMMIT     prints the comment on the pull request of a merged commit
#   ci/github.sh issue FILE          creates or updates the issue of the nightly check
#   ci/github.sh close               closes that issue
set -eu

# The first line and the author of the comment. Other users could copy the first line.
marker='<!-- gpurent costs -->'
author='github-actions[bot]'
# The title and the label of the issue.
title='Servers differ from the configuration'
label=drift

# api METHOD PATH [CURL ARGUMENTS...]
api() {
  method=$1 path=$2
  shift 2
  curl -fsS -X "$method" -H "Authorization: Bearer $GITHUB_TOKEN" -H 'Accept: application/vnd.github+json' \
    -H 'X-GitHub-Api-Version: 2022-11-28' "$@" "$GITHUB_API_URL/repos/$GITHUB_REPOSITORY$path"
}

# send METHOD PATH sends JSON from the standard input.
send() { api "$1" "$2" -H 'Content-Type: application/json' --data-binary @- >/dev/null; }

# find_comment PULL prints the comment on a pull request as JSON, or nothing.
find_comment() {
  page=1
  while :; do
    comments=$(api GET "/issues/$1/comments?per_page=100&page=$page")
    found=$(printf '%s' "$comments" | jq -c --arg marker "$marker" --arg author "$author" \
      'first(.[] | select(.user.login == $author and (.body | startswith($marker))))')
    if [ -n "$found" ] || [ "$(printf '%s' "$comments" | jq length)" -lt 100 ]; then
      printf '%s\n' "$found"
      return
    fi
    page=$((page + 1))
  done
}

# open_issue prints the number of the open issue, or nothing.
open_issue() {
  issues=$(api GET "/issues?state=open&labels=$label&per_page=100")
  printf '%s' "$issues" |
    jq -r --arg title "$title" --arg author "$author" 'first(.[] | select(.title == $title and .user.login == $author)) | .number'
}

# issue_body FILE prints the body as JSON. GitHub accepts 65,536 characters.
issue_body() { jq -n --rawfile body "$1" '{body: $body[:65000]}'; }

case ${1-} in
comment)
  comment=$(find_comment "$2")
  id=$(printf '%s' "$comment" | jq .id)
  if [ -n "$id" ]; then
    jq -n --rawfile body "$3" '{$body}' | send PATCH "/issues/comments/$id"
  else
    jq -n --rawfile body "$3" '{$body}' | send POST "/issues/$2/comments"
  fi
  ;;
reviewed)
  pulls=$(api GET "/commits/$2/pulls")
  pull=$(printf '%s' "$pulls" | jq -r 'first(.[] | select(.merged_at)) | .number')
  if [ -n "$pull" ]; then
    comment=$(find_comment "$pull")
    printf '%s' "$comment" | jq -r .body
  fi
  ;;
issue)
  number=$(open_issue)
  if [ -n "$number" ]; then
    issue_body "$2" | send PATCH "/issues/$number"
  else
    issue_body "$2" | jq --arg title "$title" --arg labels "$label" '. + {$title, labels: [$labels]}' | send POST /issues
  fi
  ;;
close)
  number=$(open_issue)
  if [ -n "$number" ]; then echo '{"state": "closed"}' | send PATCH "/issues/$number"; fi
  ;;
*)
  sed -n '4,7s/^#   /usage: /p' "$0" >&2
  exit 2
  ;;
esac
