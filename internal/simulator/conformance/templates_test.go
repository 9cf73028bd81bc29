package conformance

import (
	"net/http"
	"testing"
)

// Template creation and deletion.

func TestTemplate_Bounds(t *testing.T) {
	s := start(t)
	body := object{"name": "own template", "image": "alpine:3.20", "recommended_disk_gb": 2000}
	checkBounds("TemplateCreate", body,
		s.removing("/templates", "slug", func(body object) response { return s.post("/templates", body) }))
	equal(t, "templates", len(s.list("/templates")), len(s.as("").list("/templates")))
}

func TestTemplate_Created(t *testing.T) {
	s := start(t)
	body := object{"name": "Шаблон 🦊", "image": "ghcr.io/team/app:1.2", "description": "text", "launch_mode": "jupyter",
		"ports": []int{8888, 6006}, "env": object{"A": "b", "Ж": "🦊"}, "onstart": "echo 1\necho 2", "min_disk_gb": 30,
		"recommended_disk_gb": 60}
	o := s.post("/templates", body).created()
	for name, value := range body {
		equal(t, name, short(o[name]), short(value))
	}
	all := s.list("/templates")
	equal(t, "the template in the list", short(all[len(all)-1]), short(o))
	first := s.post("/templates", object{"name": "bare", "image": "alpine:3"}).created()
	equal(t, "launch_mode by default", text(first, "launch_mode"), "ssh")
	second := s.post("/templates", object{"name": "bare", "image": "alpine:3"}).created()
	check(t, second["slug"] != first["slug"], "two templates with the slug %v", first["slug"])
}

func TestTemplate_Limit(t *testing.T) {
	s := start(t)
	var last string
	for range 20 {
		last = s.newTemplate()
	}
	body := object{"name": "one more", "image": "alpine:3"}
	s.post("/templates", body).failsWith("conflict")
	s.delete("/templates/" + last).want(http.StatusNoContent)
	s.post("/templates", body).created()
	s.post("/templates", body).failsWith("conflict")
}

// Instances that were created from a deleted template keep running and can be stopped and started.
func TestTemplate_Deleted(t *testing.T) {
	s := start(t)
	slug := s.newTemplate()
	id := text(s.running(object{"template": slug}), "id")
	s.delete("/templates/" + slug).want(http.StatusNoContent)
	s.delete("/templates/" + slug).failsWith("not_found")
	check(t, !s.lists("/templates", slug), "a deleted template is listed")
	body := s.rentBody()
	body["template"] = slug
	s.create(unique("gone"), body).failsWith("not_found")
	equal(t, "template.slug", text(s.instance(id), "template.slug"), slug)
	s.action(id, "stop").ok()
	s.waitFor(id, "stopped")
	s.action(id, "start").ok()
	s.waitFor(id, "running")
	for _, o := range s.as("").list("/templates") {
		a := s.delete("/templates/" + text(o, "slug"))
		check(t, a.status == http.StatusNotFound || a.status == http.StatusForbidden,
			"DELETE of a template of the catalogue: %d", a.status)
	}
}
