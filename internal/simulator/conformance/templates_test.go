package conformance

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
)

// Template creation and deletion.

func plainTemplateBody() object { return object{"name": "own template", "image": "alpine:3.20"} }

// postTemplate creates a template and deletes it, so that the limit is not reached.
func (s *service) postTemplate(body object) response {
	s.t.Helper()
	a := s.post("/templates", body)
	if a.status == http.StatusCreated {
		s.delete("/templates/" + text(a.object(), "slug")).want(http.StatusNoContent)
	}
	return a
}

func TestTemplateBounds(t *testing.T) {
	s := start(t)
	body := object{"name": "own template", "image": "alpine:3.20", "recommended_disk_gb": 2000}
	checkBounds("TemplateCreate", body, s.postTemplate)
	check(t, len(s.list("/templates")) == len(s.as("").list("/templates")), "a refused template was created")
}

func TestTemplateCreated(t *testing.T) {
	s := start(t)
	body := object{"name": "Шаблон 🦊", "image": "ghcr.io/team/app:1.2", "description": "text", "launch_mode": "jupyter",
		"ports": []int{8888, 6006},
		"env":   object{"A": "b", "Ж": "🦊"}, "onstart": "echo 1\necho 2", "min_disk_gb": 30, "recommended_disk_gb": 60}
	o := s.post("/templates", body).created()
	for name, value := range body {
		equal(t, name, short(o[name]), short(value))
	}
	var listed object
	for _, other := range s.list("/templates") {
		if other["slug"] == o["slug"] {
			listed = other
		}
	}
	equal(t, "the template in the list", short(listed), short(o))
	first := s.post("/templates", plainTemplateBody()).created()
	equal(t, "launch_mode by default", text(first, "launch_mode"), "ssh")
	second := s.post("/templates", plainTemplateBody()).created()
	check(t, second["slug"] != first["slug"], "two templates with the slug %v", first["slug"])
}

func TestTemplateLimit(t *testing.T) {
	s := start(t)
	var last string
	for n := range 20 {
		last = text(s.post("/templates", object{"name": fmt.Sprintf("template %d", n), "image": "alpine:3"}).created(),
			"slug")
	}
	s.post("/templates", plainTemplateBody()).failsWith("conflict")
	s.delete("/templates/" + last).want(http.StatusNoContent)
	s.post("/templates", plainTemplateBody()).created()
	s.post("/templates", plainTemplateBody()).failsWith("conflict")
}

func TestTemplateDeleted(t *testing.T) {
	s := start(t)
	slug := text(s.post("/templates", plainTemplateBody()).created(), "slug")
	i := s.running(object{"template": slug})
	s.delete("/templates/" + slug).want(http.StatusNoContent)
	s.delete("/templates/" + slug).failsWith("not_found")
	check(t, !slices.Contains(ids(s.list("/templates")), slug), "a deleted template is listed")
	body := s.rentBody()
	body["template"] = slug
	s.create(uniqueName("gone"), body).failsWith("not_found")
	// The instance keeps running and can be stopped and started.
	id := text(i, "id")
	s.advance(3600)
	o := s.instance(id)
	equal(t, "status", text(o, "status"), "running")
	equal(t, "template.slug", text(o, "template.slug"), slug)
	s.action(id, "stop").ok()
	s.waitForStatus(id, "stopped")
	s.action(id, "start").ok()
	s.waitForStatus(id, "running")

	for _, o := range s.as("").list("/templates") {
		a := s.delete("/templates/" + text(o, "slug"))
		check(t, a.status == http.StatusNotFound || a.status == http.StatusForbidden,
			"a template of the catalogue: DELETE answers %d", a.status)
	}
	for _, slug := range []string{"none", "%D0%B9", "a%2Fb", "%20"} {
		s.delete("/templates/" + slug).failsWith("not_found")
	}
}
