# Prints the costs of a plan as Markdown for a comment:
#
#   terraform show -json saved.plan >plan.json
#   jq -r -f ci/costs.jq plan.json
#
# A new server counts with its price cap, max_price_kop_h, because its price is
# unknown before it is created. All amounts are in kopecks until they are printed.

def grouped: tostring | [while(length > 0; .[:-3]) | .[-3:]] | reverse | join(" ");
def rub:
  (if . < 0 then "-" else "" end)
  + (fabs | round | "\(. / 100 | floor | grouped),\("0\(. % 100)" | .[-2:]) ₽");

# A name as a code span, in which Markdown is not interpreted: names come from the
# configuration of a pull request. Invisible characters, and those that could end
# the span or the table cell, are percent-encoded.
def code: "`" + gsub("(?<c>[^\\p{L}\\p{N} ._:/,+=\"\\[\\]-])"; .c | @uri) + "`";

def running: .price.running_kop_h // 0;
def stopped: .price.stopped_kop_h // 0;
def bills: if .status == "stopped" or .status == "outbid" then stopped else running end;
# Maximum price after a start or a bid. Null if there is no cap.
def max_price: if .type == "interruptible" then .max_price_kop_h else running end;

# The action for a server, its price before and after, and whether the price after
# is only a cap.
def outcome:
  .change as {$actions, $before, $after}
  | ($before // {} | bills) as $now
  | if $actions == ["no-op"] then {now: $now, later: $now}
    elif $actions == ["delete"] then {does: "destroy", now: $now, later: 0}
    elif $actions == ["forget"] then {does: "forget, **billing continues**", now: $now, later: $now}
    elif $actions == ["create"] then {does: "create", now: 0, later: $after.max_price_kop_h, cap: true}
    elif $actions | contains(["delete", "create"]) then
      {does: "replace", now: $now, later: $after.max_price_kop_h, cap: true}
    elif $after.desired_state == "stopped" then
      {does: (if $before.status == "stopped" then "update" else "stop" end), now: $now, later: ($before | stopped)}
    elif $before.status == "running" then {does: "update", now: $now, later: $now}
    elif $before.status == "outbid" and $after.on_outbid == "keep" then {does: "update", now: $now, later: $now}
    else {does: "start", now: $now, later: ($before + {max_price_kop_h: $after.max_price_kop_h} | max_price), cap: ($before.type == "interruptible")}
    end;

# The arguments that a review must show, by resource type: what is rented, and who
# gets access. The price cap is compared separately, as a number.
def reviewed_arguments: {
  gpurent_instance: ["type", "offer_id", "offer_query", "fallback_queries", "template", "image", "disk_gb", "ssh_key_ids"],
  gpurent_template: ["name", "image", "launch_mode", "ports", "env", "onstart", "min_disk_gb", "recommended_disk_gb"],
  gpurent_api_key: ["name", "scopes", "expires_in_days"],
  gpurent_ssh_key: ["name", "public_key"]
};
def any_true: [.. | booleans] | any;
# Without sensitive values: everyone who can read the comment can read this list.
def arguments:
  .change as $c
  | [reviewed_arguments[.type][] as $name | {key: $name, value: (
      if $c.after_unknown[$name] | any_true then "(known after apply)"
      elif $c.after_sensitive[$name] | any_true then "(sensitive)"
      else $c.after[$name] end)}]
  | from_entries;

# The changes that guard.sh accepts only if the review showed them. Starts and
# stops are not included, except a start without a price cap.
def reviewable:
  .change as {$actions, $before, $after}
  | {address} as $entry
  | $after.max_price_kop_h as $cap
  | if reviewed_arguments[.type] == null or $actions == ["no-op"] then empty
    elif $actions | index("create") then
      $entry + {does: (if $actions == ["create"] then "create" else "replace" end), arguments: arguments}
      + if .type == "gpurent_instance" then {max_price_kop_h: $cap} else {} end
    elif .type != "gpurent_instance" then empty
    elif $actions != ["update"] then $entry + {does: $actions[0]}
    else
      ($before.max_price_kop_h as $was | select($cap != $was and ($cap == null or $cap > $was))
        | $entry + {does: "raise the price cap of", max_price_kop_h: $cap}),
      (select(outcome | .does == "start" and .later == null) | $entry + {does: "start", max_price_kop_h: null})
    end;

def amount($upto): if . == null then "no cap" else (if $upto then "up to " else "" end) + rub end;
def per_hour_and_month($upto): "\(amount($upto)) per hour (\(. * 730 | amount($upto)) per month)";

# Other changes that a review must show: higher price caps and new access.
def text: if type == "array" then join(", ") else tostring end;
def notes:
  (.address | code) as $name
  | .change.before.max_price_kop_h as $was
  | (reviewable | select(.does == "raise the price cap of")
      | "- The price cap of \($name): \($was | amount(false)) per hour before, \(
          .max_price_kop_h | amount(false)) after."),
    (select(.change.actions | index("create"))
      | if .type == "gpurent_api_key" then
          arguments
          | "- New API key \($name): \(.scopes | text | code), \(
              .expires_in_days | if . == null then "never expires" else "expires in \(text | code) days" end)."
        elif .type == "gpurent_ssh_key" then
          "- New SSH key \($name): \(.change.after.fingerprint // "known after apply" | code)."
        else empty end);

[.resource_changes[]? | select(.mode == "managed")] as $all
| [$all[] | select(.type == "gpurent_instance") | {address} + outcome] as $servers
| [$servers[] | select(.does)] as $changed
| ($servers - $changed) as $same
| [$all[] | select(.type != "gpurent_instance" and .change.actions != ["no-op"])] as $others
| any($servers[]; .cap) as $upto
| any($servers[]; .later == null) as $open
| ([$servers[].now] | add // 0) as $now
| ([$servers[].later // 0] | add // 0) as $later
| ([$servers[] | (.later // 0) - .now | select(. > 0)] | add // 0) as $more
| ([$servers[] | .now - (.later // 0) | select(. > 0)] | add // 0) as $less
# Changes that differ only in the address become one entry, because the length of a
# comment is limited.
| [$all[] | reviewable] | group_by(del(.address)) | map((.[0] | del(.address)) + {addresses: map(.address)}) as $list
| "<!-- gpurent costs -->",
  (if $changed == [] then "### No server changes" else "### Server changes" end),
  "",
  "| server | change | price before | price after |",
  "|---|---|---:|---:|",
  ($changed[] | "| \(.address | code) | \(.does) | \(.now | rub) | \(.cap as $c | .later | amount($c)) |"),
  (if $same != [] then "| \($same | length) unchanged | | \([$same[].now] | add | rub) | \([$same[].later] | add | rub) |" else empty end),
  "| **per hour** | | **\($now | rub)** | **\($later | amount($upto))** |",
  "| **per month (730 hours)** | | **\($now * 730 | rub)** | **\($later * 730 | amount($upto))** |",
  "",
  (if $changed != [] then "The plan adds \($more | per_hour_and_month($upto)) and removes \($less | per_hour_and_month(false))." else empty end),
  (if $upto then "New servers count with their price cap. Disk beyond an offer's base disk is not included." else empty end),
  (if $open then
    "**The sums do not include servers without a price cap. The pipeline does not apply this plan.**"
  else empty end),
  (if $others != [] then "Other changed resources: \([$others[] | .address | code] | join(", "))." else empty end),
  ($all[] | notes),
  "",
  "<!-- reviewed: \($list | tojson | @base64) -->"
