#!/bin/sh
# Talks to GitHub for the workflows. It needs curl, jq, and GITHUB_TOKEN.
#
#   ci/github.sh comment PULL FILE   one comment on a pull request, updated
#   ci/github.sh reviewed COMMIT     prints that comment of the pull request that the commit merged
#   ci/github.sh issue FILE          one open issue about drift, updated
#   ci/github.sh close               closes it
set -eu

# What our comment begins with, and who writes it. Others may write the same words.
marker='<!-- gpurent costs -->'
author='github-actions[bot]'
title='Servers are not as declared'

# api METHOD PATH [CURL ARGUMENTS...]
api() {
  method=$1 path=$2
  shift 2
  curl -fsS -X "$method" -H "Authorization: Bearer $GITHUB_TOKEN" -H 'Accept: application/vnd.github+json' \
    -H 'X-GitHub-Api-Version: 2022-11-28' "$@" "$GITHUB_API_URL/repos/$GITHUB_REPOSITORY$path"
}

# send METHOD PATH sends the JSON on stdin.
send() { api "$1" "$2" -H 'Content-Type: application/json' --data-binary @- >/dev/null; }

# ours PULL prints our comment as JSON, or nothing.
ours() {
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

# open_issue prints the number of the open issue about drift, or nothing.
open_issue() {
  issues=$(api GET '/issues?state=open&labels=drift&per_page=100')
  printf '%s' "$issues" |
    jq -r --arg title "$title" --arg author "$author" 'first(.[] | select(.title == $title and .user.login == $author)) | .number'
}

case ${1-} in
comment)
  comment=$(ours "$2")
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
    comment=$(ours "$pull")
    printf '%s' "$comment" | jq -r .body
  fi
  ;;
issue)
  number=$(open_issue)
  if [ -n "$number" ]; then
    jq -n --rawfile body "$2" '{$body}' | send PATCH "/issues/$number"
  else
    jq -n --rawfile body "$2" --arg title "$title" '{$title, $body, labels: ["drift"]}' | send POST /issues
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
