package simulator_test

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

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

// remove removes a value with its members or elements.
func (v values) remove(path string, value any) {
	switch value := value.(type) {
	case nil:
		delete(v, path+"=null")
		return
	case string:
		delete(v, path+"="+value)
	case map[string]any:
		for name, inner := range value {
			v.remove(path+"."+name, inner)
		}
	case []any:
		for _, element := range value {
			v.remove(path, element)
		}
	}
	delete(v, path)
}

// observe removes the values of all later responses. It first adds the tables of all of them.
func (v values) observe(api *client) {
	mux := http.NewServeMux()
	for _, op := range apidoc.Operations {
		table := strings.TrimSuffix(cmp.Or(op.Created, op.Response), "Page")
		if table != "" {
			v.allow(table, apidoc.Fields(table))
		}
		mux.HandleFunc(op.Method+" /api/v1"+op.Path, func(w http.ResponseWriter, r *http.Request) {
			api.Handler().ServeHTTP(w, r)
			var body object
			rec := w.(*httptest.ResponseRecorder)
			if rec.Code/100 == 2 && json.Unmarshal(rec.Body.Bytes(), &body) == nil {
				v.remove(table, map[string]any(body))
				v.remove(table, body["data"])
			}
		})
	}
	api.handler = mux
}

// TestResources_EveryValueOccurs causes every value that the tables of the document allow: each field with a value,
// with null if it is nullable, and each value of an enum. The contract checks that no other values occur.
func TestResources_EveryValueOccurs(t *testing.T) {
	api := newFundedClient(t)
	missing := values{}
	missing.observe(api)
	api.setAccount(object{"email_verified": false})
	equal(t, "email_verified", api.get("/me").ok()["email_verified"], any(false))
	api.setAccount(object{"email_verified": true})
	api.balance()
	for _, o := range api.list("/offers?gpu=rtx_3060") {
		api.setOffer(o.text("id"), object{"available": false})
	}
	for _, path := range createPaths {
		for n := range 2 {
			api.add(path, n)
		}
	}
	for _, template := range api.withKey("").list("/templates") {
		if template.text("slug") != "custom" {
			api.createInstance(object{"template": template["slug"], "disk_gb": 100, "name": "n", "type": "interruptible"})
		}
	}
	api.list("/instances")
	api.Advance(time.Minute)
	paid := api.runningInstance(nil).text("id")
	api.action(paid, "stop").ok()
	api.waitFor(paid, "stopped")
	api.get("/instances/" + paid + "/logs").ok()
	for _, status := range statuses {
		api.setInstance(paid, object{"status": status})
		api.instance(paid)
	}
	api.delete("/instances/" + api.runningInstance(nil).text("id")).ok()
	login := api.login()
	api.decide(login, "approve")
	api.poll(login).ok()
	for _, path := range listPaths {
		api.list(path)
	}
	api.balance()

	var never []string
	for value, allowed := range missing {
		if allowed {
			never = append(never, value)
		}
	}
	slices.Sort(never)
	// The account has an e-mail. The simulator has no traffic, and only the console causes some entries of the ledger.
	// The market has the VRAM and the country of the servers in this test.
	want := []string{"ApiKeyCreated.last_used_at", "Instance.country=null", "Instance.gpu.vram_gb=null",
		"Transaction.type=bandwidth", "Transaction.type=promo_expire", "Transaction.type=refund", "Transaction.type=reversal",
		"Transaction.type=writeoff", "User.email=null"}
	equal(t, "values that never occur", strings.Join(never, " "), strings.Join(want, " "))
}
