package conformance

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/contract/apidoc"
)

func TestResourceUser(t *testing.T) {
	s := start(t)
	tb := newTable("User")
	tb.verify(t, s.get("/me").ok())
	tb.complete(t, "email=null")
}

func TestResourceBalance(t *testing.T) {
	s := start(t)
	tb := newTable("Balance")
	tb.verify(t, s.get("/balance").ok())
	check(t, s.get("/balance").ok()["runway_hours"] == nil, "runway_hours: not null when idle")
	s.running(nil)
	tb.verify(t, s.get("/balance").ok())
	s.advance(1234)
	tb.verify(t, s.get("/balance").ok())
	tb.complete(t)
}

func TestResourceTransaction(t *testing.T) {
	s := start(t)
	id := text(s.running(object{"offer_id": s.offerWithTraffic()["id"]}), "id")
	s.setInstance(id, object{"traffic_gb": 100})
	s.advance(3 * 3600)
	s.delete("/instances/" + id).ok()
	s.advance(24 * 3600)
	tb := newTable("Transaction")
	for _, o := range s.list("/transactions") {
		tb.verify(t, o)
	}
	// Only the console causes entries of these types.
	tb.complete(t, "type=refund", "type=promo_expire", "type=writeoff", "type=reversal")
}

func TestResourceGpuModel(t *testing.T) {
	s := start(t)
	tb := newTable("GpuModel")
	models := s.list("/gpus")
	for _, o := range models {
		tb.verify(t, o)
	}
	slug := text(models[0], "slug")
	for _, o := range s.list("/offers?gpu=" + slug) {
		s.setOffer(text(o, "id"), object{"available": false})
	}
	for _, o := range s.list("/gpus") {
		tb.verify(t, o)
		if text(o, "slug") == slug {
			check(t, o["from_kop_h"] == nil && o["from_interruptible_kop_h"] == nil &&
				integer(o, "available_gpus") == 0,
				"%s: not available, but %v", slug, o)
		}
	}
	tb.complete(t)
}

func TestResourceOffer(t *testing.T) {
	s := start(t)
	tb := newTable("Offer")
	for _, kind := range []string{"on_demand", "interruptible"} {
		for _, o := range s.list("/offers?type=" + kind) {
			tb.verify(t, o)
			equal(t, "available of a listed offer", at(o, "available"), any(true))
			if country := at(o, "country"); country != nil {
				check(t, len(text(o, "country")) == 2 && strings.ToUpper(text(o, "country")) == country,
					"country %v is no ISO-2 code", country)
			}
			if r, known := number(o, "reliability"); known {
				check(t, r >= 0 && r <= 1, "reliability %v", r)
			}
			check(t, integer(o, "gpu.count") > 0 && integer(o, "gpu.vram_gb") > 0 &&
				integer(o, "price.on_demand_kop_h") > 0,
				"an offer without GPUs or price: %v", o)
			tb.verify(t, s.get("/offers/"+text(o, "id")).ok())
		}
	}
	// The document does not say which values are ever unknown. All others must have a value.
	var known []string
	for path := range tb.seen {
		if !strings.HasSuffix(path, "=null") && tb.seen[path+"=null"] == 0 {
			known = append(known, strings.TrimPrefix(path, "Offer.")+"=null")
		}
	}
	tb.complete(t, known...)
}

func TestResourceTemplate(t *testing.T) {
	s := start(t)
	tb := newTable("Template")
	for _, o := range s.list("/templates") {
		tb.verify(t, o)
		equal(t, "owner", text(o, "owner"), "catalog")
		equal(t, "public", at(o, "public"), any(true))
		check(t, integer(o, "recommended_disk_gb") >= integer(o, "min_disk_gb"),
			"%s recommends less disk than it needs",
			text(o, "slug"))
	}
	tb.verify(t, s.post("/templates", object{"name": "mine", "image": "alpine:3", "onstart": "sleep 1",
		"env": object{"A": "b"}, "ports": []int{80}}).created())
	tb.verify(t, s.post("/templates", object{"name": "bare", "image": "alpine:3"}).created())
	for _, o := range s.list("/templates") {
		tb.verify(t, o)
	}
	tb.complete(t)
}

func TestResourceSshKey(t *testing.T) {
	s := start(t)
	tb := newTable("SshKey")
	tb.verify(t, s.post("/ssh-keys", object{"name": "laptop", "public_key": publicKey(1)}).created())
	tb.verify(t, s.post("/ssh-keys", object{"public_key": publicKey(2)}).created())
	for _, o := range s.list("/ssh-keys") {
		tb.verify(t, o)
		equal(t, "type", text(o, "type"), "ssh-ed25519")
		check(t, strings.HasPrefix(text(o, "fingerprint"), "SHA256:"), "fingerprint %v", o["fingerprint"])
	}
	tb.complete(t)
}

func TestResourceInstance(t *testing.T) {
	s := start(t)
	tb := newTable("Instance")
	verify := func(o object) {
		tb.verify(t, o)
		tb.verify(t, s.instance(text(o, "id")))
	}
	for _, template := range s.list("/templates") {
		if text(template, "slug") == "custom" {
			continue
		}
		o := s.rent(object{"template": template["slug"], "disk_gb": 100, "name": "n", "type": "interruptible"})
		verify(o)
		for range 3 {
			s.advance(3)
			verify(s.instance(text(o, "id")))
		}
		s.advance(60)
		verify(s.instance(text(o, "id")))
		s.delete("/instances/" + text(o, "id")).ok()
		s.advance(60)
	}
	id := text(s.running(nil), "id")
	for _, status := range statuses {
		s.setInstance(id, object{"status": status})
		verify(s.instance(id))
		for _, o := range s.list("/instances?status=all") {
			tb.verify(t, o)
		}
	}
	stopped := text(s.running(nil), "id")
	s.action(stopped, "stop").ok()
	verify(s.waitForStatus(stopped, "stopped"))
	// The market determines whether country and VRAM can be unknown.
	tb.complete(t, "country=null", "gpu.vram_gb=null")
}

func TestResourceInstanceLogs(t *testing.T) {
	s := start(t)
	tb := newTable("InstanceLogs")
	tb.verify(t, s.get("/instances/"+text(s.running(nil), "id")+"/logs").ok())
	tb.complete(t)
}

func TestResourceApiKeys(t *testing.T) {
	s := start(t)
	tb, created := newTable("ApiKey"), newTable("ApiKeyCreated")
	created.verify(t, s.post("/api-keys", object{"name": "a", "scopes": []string{"user:read"},
		"expires_in_days": 1}).created())
	created.verify(t, s.post("/api-keys", object{"name": "b", "scopes": []string{"user:read"}}).created())
	code := s.as("").post("/auth/device", object{}).ok()
	s.control("POST", "/device-codes/"+text(code, "user_code"), object{"decision": "approve"})
	s.as("").post("/auth/device/token", object{"device_code": code["device_code"]}).ok()
	for _, o := range s.list("/api-keys") {
		tb.verify(t, o)
		for _, scope := range o["scopes"].([]any) {
			check(t, slices.Contains(apidoc.Scopes, fmt.Sprint(scope)), "a scope %v", scope)
		}
		_, leaked := o["secret"]
		check(t, !leaked, "a secret in a listing")
	}
	tb.complete(t)
	created.complete(t, "last_used_at")
}

func TestResourceDeviceLogin(t *testing.T) {
	s := start(t).as("")
	code, token := newTable("DeviceCode"), newTable("DeviceToken")
	o := s.post("/auth/device", object{"client_name": "a laptop"}).ok()
	code.verify(t, o)
	code.complete(t)
	s.control("POST", "/device-codes/"+text(o, "user_code"), object{"decision": "approve"})
	token.verify(t, s.post("/auth/device/token", object{"device_code": o["device_code"]}).ok())
	token.complete(t)
}

func TestResourceError(t *testing.T) {
	s := start(t)
	tb := newTable("Error")
	tb.verify(t, s.get("/instances/none").object())
	tb.verify(t, s.get("/instances?limit=0").object())
	tb.complete(t)
}
