package conformance

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// The document's table of TemplateCreate, and what becomes of a template.

func plainTemplateBody() object { return object{"name": "own template", "image": "alpine:3.20"} }

// postTemplate creates a template and removes it again, so that the limit of twenty is not met.
func (s *service) postTemplate(body object) answer {
	s.t.Helper()
	a := s.post("/templates", body)
	if a.status == http.StatusCreated {
		s.delete("/templates/" + text(a.object(), "slug")).want(http.StatusNoContent)
	}
	return a
}

func variables(n int) object {
	env := object{}
	for i := range n {
		env[fmt.Sprintf("NAME_%d", i)] = "value"
	}
	return env
}

func ports(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = 8000 + i
	}
	return list
}

func TestTemplateBounds(t *testing.T) {
	s := start(t)
	list := slices.Concat([]edge{
		{"name", absent{}, false}, {"name", "", false}, {"name", "x", false}, {"name", "xy", true}, {"name", "ж", false}, {"name", "жж", true},
		{"name", "🦊", false}, {"name", "🦊🦊", true}, {"name", strings.Repeat("x", 60), true}, {"name", strings.Repeat("x", 61), false},
		{"name", strings.Repeat("ж", 60), true}, {"name", strings.Repeat("ж", 61), false}, {"name", strings.Repeat("🦊", 60), true}, {"name", strings.Repeat("🦊", 61), false},
		{"image", absent{}, false}, {"image", "", false}, {"image", "alpine", false}, {"image", "alpine:", false}, {"image", "alpine:3", true},
		{"image", "registry.example:5000/team/app", false}, {"image", "registry.example:5000/team/app:1.0", true},
		{"description", absent{}, true}, {"description", "", true}, {"description", strings.Repeat("ж", 500), true}, {"description", strings.Repeat("ж", 501), false},
		{"launch_mode", absent{}, true}, {"launch_mode", "ssh", true}, {"launch_mode", "jupyter", true}, {"launch_mode", "entrypoint", true}, {"launch_mode", "", false},
		{"launch_mode", "SSH", false}, {"launch_mode", "docker", false},
		{"ports", absent{}, true}, {"ports", []int{}, true}, {"ports", []int{0}, false}, {"ports", []int{1}, true}, {"ports", []int{65535}, true}, {"ports", []int{65536}, false},
		{"ports", []int{-1}, false}, {"ports", ports(10), true}, {"ports", ports(11), false}, {"ports", []any{"80"}, false}, {"ports", []any{80.5}, false}, {"ports", []any{nil}, false},
		{"env", absent{}, true}, {"env", object{}, true}, {"env", variables(30), true}, {"env", variables(31), false}, {"env", object{"A": 1}, false}, {"env", object{"A": nil}, false},
		{"env", object{"A": ""}, true},
		{"onstart", absent{}, true}, {"onstart", strings.Repeat("ж", 4000), true}, {"onstart", strings.Repeat("ж", 4001), false},
		{"min_disk_gb", absent{}, true}, {"min_disk_gb", 9, false}, {"min_disk_gb", 10, true}, {"min_disk_gb", 2001, false}, {"min_disk_gb", 10.5, false},
		{"recommended_disk_gb", absent{}, true}, {"recommended_disk_gb", 9, false}, {"recommended_disk_gb", 10, true}, {"recommended_disk_gb", 2000, true},
		{"recommended_disk_gb", 2001, false},
	}, wrongKinds("name", "string", false), wrongKinds("image", "string", false))
	for field, kind := range map[string]string{"description": "string", "launch_mode": "string", "ports": "array", "env": "object", "onstart": "string",
		"min_disk_gb": "integer", "recommended_disk_gb": "integer"} {
		// Whether null is the same as leaving out an optional field, the document does not say.
		wrong := wrongKinds(field, kind, false)
		list = append(list, wrong[:len(wrong)-1]...)
	}
	good := plainTemplateBody()
	good["recommended_disk_gb"] = 2000
	edges(good, list, s.postTemplate)
	edges(object{"name": "large", "image": "alpine:3", "recommended_disk_gb": 2000}, []edge{{"min_disk_gb", 2000, true}}, s.postTemplate)
	check(t, len(s.list("/templates")) == len(s.as("").list("/templates")), "a refused template was created")
}

func TestTemplateCreated(t *testing.T) {
	s := start(t)
	body := object{"name": "Шаблон 🦊", "image": "ghcr.io/team/app:1.2", "description": "text", "launch_mode": "jupyter", "ports": []int{8888, 6006},
		"env": object{"A": "b", "Ж": "🦊"}, "onstart": "echo 1\necho 2", "min_disk_gb": 30, "recommended_disk_gb": 60}
	o := s.post("/templates", body).created()
	for name, value := range body {
		equal(t, name, brief(o[name]), brief(value))
	}
	var listed object
	for _, other := range s.list("/templates") {
		if other["slug"] == o["slug"] {
			listed = other
		}
	}
	equal(t, "the template in the list", brief(listed), brief(o))
	bare := s.post("/templates", plainTemplateBody()).created()
	equal(t, "launch_mode by default", text(bare, "launch_mode"), "ssh")
	twin := s.post("/templates", plainTemplateBody()).created()
	check(t, twin["slug"] != bare["slug"], "two templates with the slug %v", bare["slug"])
}

func TestTemplateLimit(t *testing.T) {
	s := start(t)
	var last string
	for n := range 20 {
		last = text(s.post("/templates", object{"name": fmt.Sprintf("template %d", n), "image": "alpine:3"}).created(), "slug")
	}
	s.post("/templates", plainTemplateBody()).fails("conflict")
	s.delete("/templates/" + last).want(http.StatusNoContent)
	s.post("/templates", plainTemplateBody()).created()
	s.post("/templates", plainTemplateBody()).fails("conflict")
}

func TestTemplateDeleted(t *testing.T) {
	s := start(t)
	slug := text(s.post("/templates", plainTemplateBody()).created(), "slug")
	i := s.running(object{"template": slug})
	s.delete("/templates/" + slug).want(http.StatusNoContent)
	s.delete("/templates/" + slug).fails("not_found")
	check(t, !slices.Contains(ids(s.list("/templates")), slug), "a deleted template is listed")
	body := s.ready()
	body["template"] = slug
	s.order(fresh("gone"), body).fails("not_found")
	// The server goes on, and can be stopped and started.
	id := text(i, "id")
	s.advance(3600)
	o := s.instance(id)
	equal(t, "status", text(o, "status"), "running")
	equal(t, "template.slug", text(o, "template.slug"), slug)
	s.act(id, "stop").ok()
	s.settle(id, "stopped")
	s.act(id, "start").ok()
	s.settle(id, "running")

	for _, o := range s.as("").list("/templates") {
		a := s.delete("/templates/" + text(o, "slug"))
		check(t, a.status == http.StatusNotFound || a.status == http.StatusForbidden, "a template of the catalogue: DELETE answers %d", a.status)
	}
	for _, slug := range []string{"none", "%D0%B9", "a%2Fb", "%20"} {
		s.delete("/templates/" + slug).fails("not_found")
	}
}
