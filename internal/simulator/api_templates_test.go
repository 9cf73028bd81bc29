package simulator_test

import (
	"net/http"
	"testing"
)

// Template creation and deletion.

func TestTemplate_Created(t *testing.T) {
	api := newFundedClient(t)
	body := object{"name": "Шаблон 🦊", "image": "ghcr.io/team/app:1.2", "description": "text", "launch_mode": "jupyter",
		"ports": []int{8888, 6006}, "env": object{"A": "b", "Ж": "🦊"}, "onstart": "echo 1\necho 2", "min_disk_gb": 30,
		"recommended_disk_gb": 60}
	o := api.post("/templates", body).created()
	for name, value := range body {
		equal(t, name, asJSON(o[name]), asJSON(value))
	}
	all := api.list("/templates")
	equal(t, "the template in the list", asJSON(all[len(all)-1]), asJSON(o))
	first := api.post("/templates", object{"name": "bare", "image": "alpine:3"}).created()
	equal(t, "launch_mode by default", first.text("launch_mode"), "ssh")
	second := api.post("/templates", object{"name": "bare", "image": "alpine:3"}).created()
	check(t, second["slug"] != first["slug"], "two templates with the slug %v", first["slug"])
}

func TestTemplate_Limit(t *testing.T) {
	api := newFundedClient(t)
	var last string
	for range 20 {
		last = api.newTemplate()
	}
	body := object{"name": "one more", "image": "alpine:3"}
	api.post("/templates", body).failsWith("conflict")
	api.delete("/templates/" + last).want(http.StatusNoContent)
	api.post("/templates", body).created()
	api.post("/templates", body).failsWith("conflict")
}

// Instances that were created from a deleted template keep running and can be stopped and started.
func TestTemplate_Deleted(t *testing.T) {
	api := newFundedClient(t)
	slug := api.newTemplate()
	id := api.runningInstance(object{"template": slug}).text("id")
	api.delete("/templates/" + slug).want(http.StatusNoContent)
	api.delete("/templates/" + slug).failsWith("not_found")
	check(t, !api.listHas("/templates", slug), "a deleted template is listed")
	api.create("gone", api.instanceBody(object{"template": slug})).failsWith("not_found")
	equal(t, "template.slug", api.instance(id).text("template.slug"), slug)
	api.action(id, "stop").ok()
	api.waitFor(id, "stopped")
	api.action(id, "start").ok()
	api.waitFor(id, "running")
	for _, o := range api.withKey("").list("/templates") {
		a := api.delete("/templates/" + o.text("slug"))
		check(t, a.status == http.StatusNotFound || a.status == http.StatusForbidden,
			"DELETE of a template of the catalogue: %d", a.status)
	}
}
