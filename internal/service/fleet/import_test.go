package fleet_test

import (
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simtest"
)

// editInstances changes the instances in all responses.
func editInstances(change func(inst map[string]any)) acctest.Option {
	return acctest.Intercept(simtest.Request("", "/instances.*").Do(simtest.RewriteItems(change)))
}

var rolling = arguments{"update": "rolling"}

// custom returns the arguments for the custom template with an image.
func custom(image any) arguments { return arguments{"template": "custom", "image": image} }

// If the API omits an argument, the plan of an import adopts the configured value in place. Later changes of it replace
// the members.
func TestImport_OmittedArguments(t *testing.T) {
	t.Parallel()
	for omitted, test := range map[string]struct {
		order           string
		config, changed arguments
	}{
		"disk_gb": {`"template":"pytorch","disk_gb":20`, train(2), train(2, arguments{"disk_gb": int64(30)})},
		"image": {`"template":"custom","image":"nginx:1.27","disk_gb":20`, train(2, custom("nginx:1.27")),
			train(2, custom("nginx:1.28"))},
		"template": {`"template":"pytorch","disk_gb":20`, train(2), train(2, custom("nginx:1.27"))},
	} {
		t.Run(omitted, func(t *testing.T) {
			t.Parallel()
			env := acctest.Start(t, editInstances(func(inst map[string]any) { delete(inst, omitted) }))
			rent(env, test.order, test.order)
			s := newSession(t, env)
			s.importByName()
			before := s.members()
			contains(t, s.apply(test.config), "!changes existing members", "!Error: ")
			s.replaced(before)
			s.unchanged(test.config)
			if plan, _ := s.plan(test.changed); len(plan.Replaces) == 0 {
				t.Error("the change does not replace the fleet")
			}
			contains(t, s.apply(train(2, test.changed, rolling)), "): replaced, because it was created with other arguments")
			s.replaced(before, "0", "1")
			s.unchanged(train(2, test.changed, rolling))
		})
	}
}

// The plan of an import shows the members that differ from the configuration.
func TestImport_UnequalMembers(t *testing.T) {
	t.Parallel()
	env := acctest.Start(t)
	const order, larger = `"template":"pytorch","disk_gb":20`, `"template":"pytorch","disk_gb":40`
	rent(env, order, larger, order)
	s := newSession(t, env)
	s.importByName()
	before := s.members()
	contains(t, s.apply(train(3)), "slot 1 (", "): replaced, because it was created with other arguments", "!slot 0",
		"!slot 2")
	s.replaced(before, "1")
}

// An import reads an instance whose name a list omits, because it may be a member.
func TestImport_OmittedName(t *testing.T) {
	t.Parallel()
	omitted := 0
	env := acctest.Start(t, editInstances(func(inst map[string]any) {
		if omitted++; omitted == 1 && inst["name"] != nil {
			delete(inst, "name")
		}
	}))
	const order = `"template":"pytorch","disk_gb":20`
	rent(env, order, order)
	s := newSession(t, env)
	omitted = 0
	s.importByName()
	if now := s.members(); len(now) != 2 {
		t.Errorf("imported %v", now)
	}
}

// An image that is added to a fleet that was created without one replaces it.
func TestPlan_AddedImage(t *testing.T) {
	t.Parallel()
	s := newSession(t, acctest.Start(t))
	s.apply(train(2, custom(nil)))
	s.unchanged(train(2, custom(nil)))
	if plan, _ := s.plan(train(2, custom("nginx:1.27"))); len(plan.Replaces) != 1 || plan.Replaces[0] != "image" {
		t.Errorf("%v replace the fleet", plan.Replaces)
	}
	plan, messages := s.plan(train(2, custom("nginx:1.27"), rolling))
	if contains(t, messages, "slots 0 (", "replaced, because"); len(plan.Replaces) > 0 {
		t.Errorf("%v replace the fleet", plan.Replaces)
	}
}

// The API returns the default image of members that were rented without one. An import without an image keeps them.
func TestImport_DefaultImage(t *testing.T) {
	t.Parallel()
	env := acctest.Start(t, editInstances(func(inst map[string]any) { inst["image"] = "ubuntu:24.04" }))
	rent(env, `"template":"custom","disk_gb":20`)
	for _, update := range []string{"replace", "rolling"} {
		s := newSession(t, env)
		s.importByName()
		before := s.members()
		config := train(1, custom(nil), arguments{"update": update})
		contains(t, s.apply(config), "!replaced, ")
		s.replaced(before)
		s.unchanged(config)
	}
}
