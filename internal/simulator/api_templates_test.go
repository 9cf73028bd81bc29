package simulator_test

import (
	"net/http"
	"testing"
)

// Template creation and deletion.

func TestTemplate_Bounds(t *testing.T) {
	r := newFundedClient(t)
	body := object{"name": "own template", "image": "alpine:3.20", "recommended_disk_gb": 2000}
	checkBounds("TemplateCreate", body,
		r.createAndDelete("/templates", "slug", func(body object) response { return r.post("/templates", body) }))
	equal(t, "templates", len(r.list("/templates")), len(r.withKey("").list("/templates")))
}

func TestTemplate_Created(t *testing.T) {
	r := newFundedClient(t)
	body := object{"name": "Шаблон 🦊", "image": "ghcr.io/team/app:1.2", "description": "text", "launch_mode": "jupyter",
		"ports": []int{8888, 6006}, "env": object{"A": "b", "Ж": "🦊"}, "onstart": "echo 1\necho 2", "min_disk_gb": 30,
		"recommended_disk_gb": 60}
	o := r.post("/templates", body).created()
	for name, value := range body {
		equal(t, name, asJSON(o[name]), asJSON(value))
	}
	all := r.list("/templates")
	equal(t, "the template in the list", asJSON(all[len(all)-1]), asJSON(o))
	first := r.post("/templates", object{"name": "bare", "image": "alpine:3"}).created()
	equal(t, "launch_mode by default", first.text("launch_mode"), "ssh")
	second := r.post("/templates", object{"name": "bare", "image": "alpine:3"}).created()
	check(t, second["slug"] != first["slug"], "two templates with the slug %v", first["slug"])
}

func TestTemplate_Limit(t *testing.T) {
	r := newFundedClient(t)
	var last string
	for range 20 {
		last = r.newTemplate()
	}
	body := object{"name": "one more", "image": "alpine:3"}
	r.post("/templates", body).failsWith("conflict")
	r.delete("/templates/" + last).want(http.StatusNoContent)
	r.post("/templates", body).created()
	r.post("/templates", body).failsWith("conflict")
}

// Instances that were created from a deleted template keep running and can be stopped and started.
func TestTemplate_Deleted(t *testing.T) {
	r := newFundedClient(t)
	slug := r.newTemplate()
	id := r.runningInstance(object{"template": slug}).text("id")
	r.delete("/templates/" + slug).want(http.StatusNoContent)
	r.delete("/templates/" + slug).failsWith("not_found")
	check(t, !r.listHas("/templates", slug), "a deleted template is listed")
	r.create("gone", r.instanceBody(object{"template": slug})).failsWith("not_found")
	equal(t, "template.slug", r.instance(id).text("template.slug"), slug)
	r.action(id, "stop").ok()
	r.waitFor(id, "stopped")
	r.action(id, "start").ok()
	r.waitFor(id, "running")
	for _, o := range r.withKey("").list("/templates") {
		a := r.delete("/templates/" + o.text("slug"))
		check(t, a.status == http.StatusNotFound || a.status == http.StatusForbidden,
			"DELETE of a template of the catalogue: %d", a.status)
	}
}
