# Prints the costs of a plan as Markdown for a comment:
#
#   terraform show -json saved.plan >plan.json
#   jq -r -f ci/costs.jq plan.json
#
# A new server counts with its price cap, max_price_kop_h, because its price is
# unknown before it is created, and a fleet at most with max_total_kop_h. All amounts
# are in kopecks until they are printed.

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

# The highest price of a fleet by its arguments. Null if there is no cap.
def fleet_cap:
  . as {$size, $max_price_kop_h, $max_total_kop_h}
  | [if $size != null and $max_price_kop_h != null then $size * $max_price_kop_h else empty end, $max_total_kop_h]
  | map(values) | min;

# Whether the members of an updated fleet get other arguments: all are replaced.
def replaces_members: . as {$before, $after} | any("template", "image", "disk_gb", "type"; $before[.] != $after[.]);

# The highest price of an updated fleet: members that run keep their price, and
# others, also new ones, cost at most the cap. Null if there is no cap.
def updated_price:
  . as {$before, $after}
  | $after as {$max_price_kop_h, $max_total_kop_h}
  | [$before.instances | to_entries[] | .value + {slot: (.key | tonumber)}]
  | sort_by(if $after.shrink == "most_expensive" then [running, .slot] else [.slot] end) | .[:$after.size]
  | [.[] | select(.status != "failed" and .status != "outbid") | running] as $kept
  | ($after.size - ($kept | length)) as $others
  | [if $others > 0 then $max_price_kop_h | values * $others else 0 end | . + ($kept | add // 0)]
  | [.[], $max_total_kop_h] | map(values) | min;

# The same as outcome, for a fleet.
def fleet_outcome:
  .change as $change
  | $change as {$actions, $before, $after}
  | ([($before // {}).instances // {} | .[] | bills] | add // 0) as $now
  | if $actions == ["no-op"] then {now: $now, later: $now}
    elif $actions == ["delete"] then {does: "destroy", now: $now, later: 0}
    elif $actions == ["forget"] then {does: "forget, **billing continues**", now: $now, later: $now}
    elif $actions == ["create"] then {does: "create", now: 0, later: ($after | fleet_cap), cap: true}
    elif $actions | contains(["delete", "create"]) then
      {does: "replace", now: $now, later: ($after | fleet_cap), cap: true}
    elif $after.size == null then {does: "update", now: $now, later: ($after | fleet_cap), cap: true}
    elif $change.after_unknown.instances != true then {does: "update", now: $now, later: $now}
    elif $change | replaces_members then {does: "replace members", now: $now, later: ($after | fleet_cap), cap: true}
    elif $after.desired_state == "stopped" then
      {does: "stop", now: $now, later: ([$before.instances[] | stopped] | add // 0)}
    else
      {does: (if $before.size != $after.size then "scale from \($before.size) to \($after.size)"
          elif $before.desired_state == "stopped" then "start" else "repair" end),
        now: $now, later: ($change | updated_price), cap: true}
    end;

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
  gpurent_fleet: ["name", "size", "type", "offer_queries", "same", "template", "image", "disk_gb", "ssh_key_ids"],
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

def is_server: .type == "gpurent_instance" or .type == "gpurent_fleet";

# The changed arguments of an updated fleet that a review must show.
def changed_arguments:
  .change as {$before, $after, $after_unknown}
  | [reviewed_arguments[.type][] | select($before[.] != $after[.] or ($after_unknown[.] | any_true))];

# The changes that guard.sh accepts only if the review showed them. Starts, stops
# and repairs are not included, except a start or a repair without a price cap.
def reviewable:
  .change as {$actions, $before, $after}
  | {address} as $entry
  | $after.max_price_kop_h as $cap
  | if reviewed_arguments[.type] == null or $actions == ["no-op"] then empty
    elif $actions | index("create") then
      $entry + {does: (if $actions == ["create"] then "create" else "replace" end), arguments: arguments}
      + if .type == "gpurent_instance" then {max_price_kop_h: $cap}
        elif .type == "gpurent_fleet" then {max_price_kop_h: ($after | fleet_cap)}
        else {} end
    elif is_server | not then empty
    elif $actions != ["update"] then $entry + {does: $actions[0]}
    elif .type == "gpurent_fleet" then
      ($before | fleet_cap) as $was
      | ($after | fleet_cap) as $cap
      | if changed_arguments != [] then $entry + {does: "update", arguments: arguments, max_price_kop_h: $cap}
        elif $cap != $was and ($cap == null or $cap > $was) then $entry + {does: "raise the price cap of", max_price_kop_h: $cap}
        elif fleet_outcome | .cap and .later == null then $entry + {does: "start", max_price_kop_h: null}
        else empty end
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
  | (if .type == "gpurent_fleet" then .change.before // {} | fleet_cap else .change.before.max_price_kop_h end) as $was
  | (select(.type == "gpurent_fleet" and .change.actions == ["update"]) | changed_arguments | select(. != [])
      | "- Changed arguments of \($name): \(map(code) | join(", "))."),
    (reviewable | select(.does == "raise the price cap of")
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
| [$all[] | select(is_server) | {address} + (if .type == "gpurent_fleet" then fleet_outcome else outcome end)] as $servers
| [$servers[] | select(.does)] as $changed
| ($servers - $changed) as $same
| [$all[] | select((is_server | not) and .change.actions != ["no-op"])] as $others
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
