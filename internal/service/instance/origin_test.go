package instance_test

import (
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/simtest"
)

// An instance that is not found with another API key stays in the state if that key may not read its account. Neither a
// refresh nor a destruction then waits until a new instance can be found. With the scope, the destruction does, and the
// instance leaves the state.
func TestOrigin_OtherKeyOfANewInstance(t *testing.T) {
	t.Parallel()
	env, tf, p := start(t, nil)
	inst := tf.mustApply(nil, configWithoutKey("a"))
	withKey := func(scopes string) *core {
		key := env.Secret(`{"name":"k","scopes":[` + scopes + `]}`)
		return newProvider(t, env, map[string]any{"api_key": key})
	}
	narrow := withKey(`"instances:read","instances:write"`)
	wide := withKey(`"instances:read","instances:write","user:read"`)
	notFound := simtest.Fail(404)
	p.Set(isGet.Do(notFound), isDelete.Do(notFound), isList.Do(simtest.Respond(200, `{"data":[],"next_cursor":null}`)))
	missing := "Cannot find instance " + inst.Text("id")
	destroys := func() int { return env.CountRequests("DELETE", "/instances") }
	expectDiags(t, "the refresh", narrow.refresh(inst), missing, "lacks the scope user:read")
	left, diags := narrow.destroy(inst)
	expectDiags(t, "the destruction", diags, missing, "lacks the scope user:read")
	if left || destroys() != 1 {
		t.Errorf("left the state: %t, after %d requests", left, destroys())
	}
	wide.mustDestroy(inst)
	if destroys() < 3 {
		t.Error("the destruction does not wait until a new instance can be found")
	}
}
