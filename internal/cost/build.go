package cost

import (
	"cmp"
	"encoding/json"
	"strings"
)

// NewReport returns what a plan costs, from the plan alone.
func NewReport(plan Plan) Report {
	report, _ := newReport(plan, nil) //nolint:errcheck // only quotes can fail
	return report
}

// builder builds a report.
type builder struct {
	Report
	quote quoteFunc // nil: prices of offers are not known
	// err is the first error of quote.
	err error
	// seen are the labels of all changes of the provider.
	seen map[string]bool
	// existing are the instances before the plan, by id.
	existing map[string]existing
}

// existing is an instance before the plan and its index in the servers of the report.
type existing struct {
	member
	index int
}

// newReport builds a report. quote returns the prices of offers; nil for none. The error is that of quote.
func newReport(plan Plan, quote quoteFunc) (Report, error) {
	b := &builder{
		Report: Report{
			FormatVersion: formatVersion, Servers: []Server{}, Others: []Change{}, Drift: []Drift{}, Problems: []Problem{},
			Notes: []string{}, Limits: []Limit{}, referable: map[string]string{},
		},
		quote: quote, seen: map[string]bool{}, existing: map[string]existing{},
	}
	b.checkPlan(plan)
	for _, c := range plan.Changes {
		if c.isManaged() {
			b.change(c)
		}
	}
	b.priorModule(plan.Prior.Values.Root)
	for _, c := range plan.Drift {
		if c.isManaged() && isServer(c.Type) {
			b.drift(c)
		}
	}
	for _, invocation := range plan.Actions {
		b.invocation(invocation)
	}
	b.total()
	return b.Report, b.err
}

// checkPlan reports what makes the whole plan incomplete.
func (b *builder) checkPlan(plan Plan) {
	if major, _, _ := strings.Cut(plan.FormatVersion, "."); major != "1" {
		b.addProblem("", "The plan has the format version %s. This command reads version 1.", code(plan.FormatVersion))
	}
	if plan.Errored {
		b.addProblem("", "The plan ended with an error: it does not contain all changes.")
	}
	if n := len(plan.Deferred) + len(plan.DeferredActions); n > 0 {
		b.addProblem("", "The plan defers %d changes to a later plan. Their prices are not known.", n)
	} else if plan.Complete != nil && !*plan.Complete && !plan.Errored {
		b.Notes = append(b.Notes, "The plan is not complete, for example because of -target: another plan follows it.")
	}
}

// actions are the lists of actions of plans, joined by commas.
var actions = map[string]Action{
	"no-op":         Unchanged,
	"create":        Create,
	"update":        Update,
	"delete":        Destroy,
	"forget":        Forget,
	"delete,create": Replace,
	"create,delete": Replace,
	"forget,create": ReplaceForget,
	"create,forget": ReplaceForget,
}

func (b *builder) change(c resourceChange) {
	action, known := actions[strings.Join(c.Change.Actions, ",")]
	if !isOurs(c.Type) {
		if action != Unchanged {
			b.OtherProviders++
		}
		return
	}
	b.seen[c.label()] = true
	change := Change{Address: c.Address, Deposed: c.Deposed, Type: c.Type, Action: action}
	if !known {
		change.Action = Unknown
		b.addProblem(c.label(), "The plan has the unknown actions %s.", code(strings.Join(c.Change.Actions, ", ")))
	}
	if strings.Join(c.Change.Actions, ",") == "create,delete" && isServer(c.Type) {
		change.note("Both servers cost until the old one is destroyed. Only the new one counts afterwards.")
	}
	switch _, reviewed := reviewedArguments[c.Type]; {
	case isServer(c.Type):
		b.server(c, change)
	case action == Unchanged && known:
	case !reviewed:
		b.addProblem(c.label(), "This version of the command does not know the resource type %s.", code(c.Type))
		b.Others = append(b.Others, change)
	default:
		b.other(c, change)
	}
}

// other adds a resource that costs nothing.
func (b *builder) other(c resourceChange, change Change) {
	if change.Action.creates() {
		after := b.after(c)
		change.setArguments(after)
		switch c.Type {
		case typeAPIKey:
			lifetime := "never expires"
			if days := change.Arguments["expires_in_days"]; days != nil {
				lifetime = "expires in " + codeOf(days) + " days"
			}
			change.note("New API key with the scopes %s, %s.", codeOf(change.Arguments["scopes"]), lifetime)
		case typeSSHKey:
			change.note("New SSH key %s.", code(cmp.Or(after.text("fingerprint"), unknownValue)))
		}
	}
	b.Others = append(b.Others, change)
}

// creates reports whether the action creates an object.
func (a Action) creates() bool { return a == Create || a == Replace || a == ReplaceForget }

// before returns the values before a change. Unexpected ones become problems.
func (b *builder) before(c resourceChange) values {
	return newValues(c.Change.Before, nil, c.Change.BeforeSensitive, b.unexpected(c.label()))
}

// after returns the values after a change. Unexpected ones become problems.
func (b *builder) after(c resourceChange) values {
	return newValues(c.Change.After, c.Change.AfterUnknown, c.Change.AfterSensitive, b.unexpected(c.label()))
}

func (b *builder) unexpected(label string) func(string) {
	return func(attribute string) {
		b.addProblem(label, "The plan has an unexpected value of %s.", code(attribute))
	}
}

// priorModule adds the servers of the prior state that the plan does not contain.
func (b *builder) priorModule(m module) {
	for _, r := range m.Resources {
		c := resourceChange{Address: r.Address, Mode: r.Mode, Type: r.Type, Deposed: r.Deposed}
		if r.Mode != "data" && (r.Type == typeTemplate || r.Type == typeSSHKey) {
			id := newValues(r.Values, nil, nil, b.unexpected(c.label())).text("id")
			b.referable[id] = r.Address
		}
		if r.Mode == "data" || b.seen[c.label()] || !isServer(r.Type) {
			continue
		}
		c.Change.Actions, c.Change.Before, c.Change.BeforeSensitive = []string{"no-op"}, r.Values, r.SensitiveValues
		b.change(c)
	}
	for _, child := range m.Children {
		b.priorModule(child)
	}
}

// drift adds a server that was changed outside Terraform.
func (b *builder) drift(c resourceChange) {
	drift := Drift{Address: c.label(), Gone: isNull(c.Change.After)}
	burn := func(object json.RawMessage) *int64 {
		v := newValues(object, nil, nil, b.unexpected(c.label()))
		return burnOf(membersOf(c.Type, v)).KopH
	}
	drift.BeforeKopH = burn(c.Change.Before)
	if !drift.Gone {
		drift.AfterKopH = burn(c.Change.After)
	}
	b.Drift = append(b.Drift, drift)
}

// isNull reports whether a value is null or missing.
func isNull(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }
