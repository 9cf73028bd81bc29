package cost

import (
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
	// seen are the labels of all servers of resource_changes.
	seen map[string]bool
}

// newReport builds a report. quote returns the prices of offers; nil for none. The error is that of quote.
func newReport(plan Plan, quote quoteFunc) (Report, error) {
	b := &builder{
		Report: Report{FormatVersion: formatVersion, Servers: []Server{}, Problems: []Problem{}, Limits: []Limit{}},
		quote:  quote, seen: map[string]bool{},
	}
	b.checkPlan(plan)
	for _, c := range plan.Changes {
		if c.isServer() {
			b.seen[c.label()] = true
			b.change(c)
		}
	}
	b.priorModule(plan.Prior.Values.Root)
	b.total()
	return b.Report, b.err
}

// checkPlan reports what makes the whole plan incomplete.
func (b *builder) checkPlan(plan Plan) {
	if major, _, _ := strings.Cut(plan.FormatVersion, "."); major != "1" {
		b.addProblem("", "The plan has the format version %s. This command reads version 1.", code(plan.FormatVersion))
	}
	if plan.Errored || len(plan.Deferred) > 0 {
		b.addProblem("", "The plan does not contain all changes: it ended with an error, or defers changes.")
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

// priorModule adds the servers of the prior state that the plan does not contain, for example because of -target.
func (b *builder) priorModule(m module) {
	for _, r := range m.Resources {
		c := resourceChange{Address: r.Address, Mode: r.Mode, Type: r.Type, Deposed: r.Deposed}
		if c.isServer() && !b.seen[c.label()] {
			c.Change.Actions, c.Change.Before, c.Change.BeforeSensitive = []string{"no-op"}, r.Values, r.SensitiveValues
			b.change(c)
		}
	}
	for _, child := range m.Children {
		b.priorModule(child)
	}
}

// isNull reports whether a value is null or missing.
func isNull(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }
