package simulator_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gpurent/terraform-provider-gpurent/internal/contract/apidoc"
)

// values are what a table of fields allows or a service returned: "Instance.ssh" (a value), "Instance.ssh=null",
// "Instance.status=outbid".
type values map[string]bool

// members returns the fields of an object or of the elements of an array, nil for other types.
func members(f apidoc.Field) []apidoc.Field {
	if name := strings.TrimPrefix(f.Type, "array of "); slices.Contains(apidoc.Tables(), name) {
		return apidoc.Fields(name)
	}
	return f.Fields
}

// allow adds all values that the fields may have.
func (v values) allow(path string, fields []apidoc.Field) {
	for _, f := range fields {
		at := path + "." + f.Name
		v[at] = f.Type != "null"
		v[at+"=null"] = f.Nullable
		if f.Type == "enum" {
			for value := range strings.SplitSeq(f.Values, ",") {
				v[at+"="+value] = true
			}
		}
		v.allow(at, members(f))
	}
}

// remove removes the values of an object.
func (v values) remove(path string, fields []apidoc.Field, o object) {
	for _, f := range fields {
		at := path + "." + f.Name
		value, present := o[f.Name]
		if !present {
			continue
		}
		if value == nil {
			delete(v, at+"=null")
			continue
		}
		delete(v, at)
		switch value := value.(type) {
		case string:
			delete(v, at+"="+value)
		case map[string]any:
			v.remove(at, members(f), value)
		case []any:
			for _, element := range value {
				if inner, isObject := element.(map[string]any); isObject {
					v.remove(at, members(f), inner)
				}
			}
		}
	}
}

// TestResources_EveryValueOccurs causes every value that the tables of the document allow: each field with a value,
// with null if it is nullable, and each value of an enum. The contract checks that no other values occur.
func TestResources_EveryValueOccurs(t *testing.T) {
	api := newFundedClient(t)
	missing := map[string]values{}
	for _, table := range []string{"User", "Balance", "Transaction", "GpuModel", "Template", "SshKey", "Instance",
		"InstanceLogs", "ApiKey", "ApiKeyCreated", "DeviceCode", "DeviceToken"} {
		missing[table] = values{}
		missing[table].allow(table, apidoc.Fields(table))
	}
	see := func(table string, ms ...object) {
		for _, o := range ms {
			missing[table].remove(table, apidoc.Fields(table), o)
		}
	}
	see("User", api.get("/me").ok())
	api.setAccount(object{"email_verified": false})
	equal(t, "email_verified", api.get("/me").ok()["email_verified"], any(false))
	api.setAccount(object{"email_verified": true})
	see("Balance", api.get("/balance").ok())

	models := api.list("/gpus")
	for _, o := range api.list("/offers?gpu=" + models[0].text("slug")) {
		api.setOffer(o.text("id"), object{"available": false})
	}
	see("GpuModel", append(models, api.list("/gpus")...)...)
	api.post("/templates", object{"name": "mine", "image": "alpine:3", "onstart": "sleep 1", "env": object{"A": "b"}})
	see("Template", api.list("/templates")...)
	api.newSSHKey(1)
	see("SshKey", api.list("/ssh-keys")...)

	for _, template := range api.list("/templates") {
		if template.text("slug") != "custom" {
			id := api.createInstance(object{"template": template["slug"], "disk_gb": 100, "name": "n",
				"type": "interruptible"}).text(
				"id")

			see("Instance", api.instance(id))
			api.Advance(time.Minute)
			see("Instance", api.instance(id))
		}
	}
	paid := api.runningInstance(nil).text("id")
	api.action(paid, "stop").ok()
	api.waitFor(paid, "stopped")
	see("InstanceLogs", api.get("/instances/"+paid+"/logs").ok())
	see("Balance", api.get("/balance").ok())
	for _, status := range statuses {
		api.setInstance(paid, object{"status": status})
		see("Instance", api.instance(paid))
	}
	id := api.runningInstance(nil).text("id")
	api.delete("/instances/" + id).ok()
	see("Instance", api.instance(id))
	see("Transaction", api.list("/transactions")...)

	see("ApiKeyCreated", api.post("/api-keys", object{"name": "a", "scopes": scopes, "expires_in_days": 1}).created(),
		api.post("/api-keys", object{"name": "b", "scopes": scopes}).created())
	login := api.login()
	see("DeviceCode", login)
	api.decide(login, "approve")
	see("DeviceToken", api.poll(login).ok())
	see("ApiKey", api.list("/api-keys")...)

	var never []string
	for _, left := range missing {
		for value, allowed := range left {
			if allowed {
				never = append(never, value)
			}
		}
	}
	slices.Sort(never)
	// The account has an e-mail. The simulator has no traffic, and only the console causes some entries of the ledger. The
	// market has the VRAM and the
	// country of the servers in this test. Null is tested for all fields of offers in package simulator.
	want := []string{"ApiKeyCreated.last_used_at", "Instance.country=null", "Instance.gpu.vram_gb=null",
		"Transaction.type=bandwidth", "Transaction.type=promo_expire", "Transaction.type=refund", "Transaction.type=reversal",
		"Transaction.type=writeoff", "User.email=null"}
	if diff := cmp.Diff(want, never); diff != "" {
		t.Errorf("values that never occur (-want +got):\n%s", diff)
	}
}
