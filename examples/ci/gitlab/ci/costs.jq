# What a plan costs, as Markdown for a comment:
#
#   terraform show -json saved.plan >plan.json
#   jq -r -f ci/costs.jq plan.json
#
# A server that is still to be rented counts with its cap, max_price_kop_h, for
# its price is known when it is rented. All money is kopecks, until it is shown.

def grouped: tostring | [while(length > 0; .[:-3]) | .[-3:]] | reverse | join(" ");
def rub:
  (if . < 0 then "-" else "" end)
  + (fabs | round | "\(. / 100 | floor | grouped),\("0\(. % 100)" | .[-2:]) ₽");

def running: .price.running_kop_h // 0;
def stopped: .price.stopped_kop_h // 0;
def bills: if .status == "stopped" or .status == "outbid" then stopped else running end;
# The most that a start or a bid may cost. Null says that nothing caps it.
def dearest: if .type == "interruptible" then .max_price_kop_h else running end;

# What becomes of a server: what is done, what it costs now and later, whether that
# is only a cap, and under which name the review must have shown it (see guard.sh).
def outcome:
  .change as {$actions, $before, $after}
  | ($before // {} | bills) as $now
  | if $actions == ["no-op"] then {now: $now, later: $now}
    elif $actions == ["delete"] then {does: "destroy", grave: "destroy", now: $now, later: 0}
    elif $actions == ["forget"] then {does: "forget, **and pay on**", grave: "forget", now: $now, later: $now}
    elif $actions == ["create"] then {does: "rent", grave: "rent", now: 0, later: $after.max_price_kop_h, cap: true}
    elif $actions | contains(["delete", "create"]) then 
      {does: "destroy, rent anew", grave: "replace", now: $now, later: $after.max_price_kop_h, cap: true}
    elif $after.desired_state == "stopped" then
      {does: (if $before.status == "stopped" then "settings" else "stop" end), now: $now, later: ($before | stopped)}
    elif $before.status == "running" then {does: "settings", now: $now, later: $now}
    elif $before.status == "outbid" and $after.on_outbid == "keep" then {does: "settings", now: $now, later: $now}
    else {does: "start", now: $now, later: ($before + {max_price_kop_h: $after.max_price_kop_h} | dearest), cap: ($before.type == "interruptible")}
    end;

def amount($upto): if . == null then "no cap" else (if $upto then "up to " else "" end) + rub end;
def both($upto): "\(amount($upto)) an hour (\(. * 730 | amount($upto)) a month)";

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
| [$changed[] | select(.grave) | "\(.grave) \(.address)\n"] as $grave
| "<!-- gpurent costs -->",
  (if $changed == [] then "### No server changes" else "### What this plan does to the servers" end),
  "",
  "| server | | costs now | costs afterwards |",
  "|---|---|---:|---:|",
  ($changed[] | "| `\(.address | gsub("\\|"; "\\|"))` | \(.does) | \(.now | rub) | \(.cap as $c | .later | amount($c)) |"),
  (if $same != [] then "| \($same | length) unchanged | | \([$same[].now] | add | rub) | \([$same[].later] | add | rub) |" else empty end),
  "| **an hour** | | **\($now | rub)** | **\($later | amount($upto))** |",
  "| **a month of 730 hours** | | **\($now * 730 | rub)** | **\($later * 730 | amount($upto))** |",
  "",
  (if $changed != [] then "It adds \($more | both($upto)) and removes \($less | both(false))." else empty end),
  (if $upto then "What is rented counts with its cap; disk beyond an offer's base comes on top." else empty end),
  (if $open then "**Servers without a cap are left out of the sums: their price is not limited.**" else empty end),
  (if $others != [] then "It also changes what is no server: \([$others[] | "`\(.address)`"] | join(", "))." else empty end),
  "",
  "<!-- reviewed: \($grave | add // "" | @base64) -->"
