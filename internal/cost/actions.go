package cost

import "strings"

// invocation adds an action that the plan invokes. A start or restart counts with the price of its server afterwards,
// and a stop reduces nothing, because the order of a plan's actions is not known.
func (b *builder) invocation(invocation actionInvocation) {
	if !isOurs(invocation.Type) {
		return
	}
	change := Change{Address: invocation.Address, Type: invocation.Type, Action: Unknown}
	config := newValues(invocation.ConfigValues, invocation.ConfigUnknown, nil, b.unexpected(invocation.Address))
	switch strings.TrimPrefix(invocation.Type, typeInstance+"_") {
	case "stop":
		change.Action = Stop
	case "start":
		change.Action = Start
	case "restart":
		change.Action = Restart
	default:
		b.addProblem(invocation.Address, "This version of the command does not know the action type %s.", code(change.Type))
	}
	id := config.text("instance_id")
	old, found := b.existing[id]
	switch {
	case found:
		s := &b.Servers[old.index]
		change.note("It is for %s.", code(s.label()))
		if change.Action != Stop {
			s.note("%s by %s.", map[Action]string{Start: "Started", Restart: "Restarted"}[change.Action], code(change.Address))
			limit := config.number("max_price_kop_h") // the action does not know that of the resource
			s.setAfter(highest(s.after(), old.started(limit, old.diskGB)))
			if s.Action == Unchanged {
				s.Action = change.Action
			}
		}
	case change.Action == Stop:
		change.note("It is for a server that the plan does not contain.")
	default:
		change.note("The plan does not contain which server it is for, or its price.")
		if id == "" {
			change.note("instance_id is not known before the apply.")
		}
		b.add(Server{Change: change, BeforeKopH: new(int64(0)), Basis: None, Uncapped: true})
		return
	}
	b.Others = append(b.Others, change)
}
