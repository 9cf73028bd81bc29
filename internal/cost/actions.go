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
	var done string // in a note about the server
	switch strings.TrimPrefix(invocation.Type, typeInstance+"_") {
	case "stop":
		change.Action = Stop
	case "start":
		change.Action, done = Start, "Started"
	case "restart":
		change.Action, done = Restart, "Restarted"
	default:
		b.addProblem(invocation.Address, "This version of the command does not know the action type %s.", code(change.Type))
	}
	id := config.text("instance_id")
	old, found := b.existing[id]
	switch {
	case found:
		s := &b.Servers[old.index]
		change.note("It is for %s.", code(s.label()))
		if done == "" {
			break
		}
		s.note("%s by %s.", done, code(change.Address))
		s.Price = highest(s.Price, old.started(nil)) // an action has no price cap
		if s.Action == Unchanged {
			s.Action = change.Action
		}
	case change.Action == Stop:
		change.note("It is for a server that the plan does not contain.")
	default:
		change.note("The plan does not contain which server it is for, or its price.")
		if id == "" {
			change.note("instance_id is not known before the apply.")
		}
		b.addServer(Server{Change: change, BeforeKopH: new(int64(0)), Price: Price{Basis: None, Uncapped: true}})
		return
	}
	b.Others = append(b.Others, change)
}
