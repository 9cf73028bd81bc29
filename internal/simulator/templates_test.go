package simulator_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"
)

func TestTemplates(t *testing.T) {
	r := newRig(t)
	catalogue := list[m](r.as(""), "/templates", 3)
	if len(catalogue) < 8 {
		t.Fatalf("%d templates, want at least 8", len(catalogue))
	}
	var own struct {
		Slug, Owner, LaunchMode string
		Public                  bool
		Ports                   []int64
		Recommended             int64 `json:"recommended_disk_gb"`
	}
	r.do("POST", "/templates", m{"name": "Мой шаблон", "image": "ghcr.io/me/app:1", "min_disk_gb": 40}).want(201).into(&own)
	if own.Owner != "me" || own.Public || own.Slug == "" || own.Ports == nil || own.Recommended != 40 {
		t.Errorf("own template %+v", own)
	}
	if n := len(list[m](r, "/templates", 3)); n != len(catalogue)+1 {
		t.Errorf("%d templates with a key", n)
	}
	if n := len(list[m](r.as(""), "/templates", 3)); n != len(catalogue) {
		t.Errorf("%d templates without a key", n)
	}
	i := r.running("k", m{"template": own.Slug})
	r.do("DELETE", "/templates/"+own.Slug, nil).want(204)
	r.do("DELETE", "/templates/"+own.Slug, nil).refused(404, "not_found")
	r.do("DELETE", "/templates/pytorch", nil).refused(404, "not_found")
	if r.instance(i.ID).Status != "running" {
		t.Error("deleting the template touched its server")
	}
	r.rent("k2", m{"template": own.Slug}).refused(404, "not_found")
	for n := range 20 {
		r.do("POST", "/templates", m{"name": fmt.Sprint("t", n), "image": "a:1"}).want(201)
	}
	r.do("POST", "/templates", m{"name": "one more", "image": "a:1"}).refused(409, "conflict")
}

func TestTemplateBounds(t *testing.T) {
	r := newRig(t)
	many := func(n int) map[string]string {
		env := map[string]string{}
		for k := range n {
			env[fmt.Sprint("V", k)] = "x"
		}
		return env
	}
	for name, c := range map[string]struct {
		body  m
		field string // "" when it is fine
	}{
		"shortest name":         {m{"name": "яя"}, ""},
		"name too short":        {m{"name": "я"}, "name"},
		"longest name":          {m{"name": strings.Repeat("я", 60)}, ""},
		"name too long":         {m{"name": strings.Repeat("a", 61)}, "name"},
		"name null":             {m{"name": nil}, "name"},
		"image without tag":     {m{"image": "ubuntu"}, "image"},
		"image by digest only":  {m{"image": "ubuntu@sha256:" + strings.Repeat("a", 64)}, "image"},
		"image with a port":     {m{"image": "registry.example:5000/a/b"}, "image"},
		"image nonsense":        {m{"image": "UPPER CASE:1"}, "image"},
		"description":           {m{"description": strings.Repeat("d", 501)}, "description"},
		"launch mode":           {m{"launch_mode": "vm"}, "launch_mode"},
		"ten ports":             {m{"ports": []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 65535}}, ""},
		"eleven ports":          {m{"ports": []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}}, "ports"},
		"port zero":             {m{"ports": []int{22, 0}}, "ports[1]"},
		"port null":             {m{"ports": []any{nil}}, "ports"},
		"port text":             {m{"ports": []any{"80"}}, "ports"},
		"thirty variables":      {m{"env": many(30)}, ""},
		"thirty-one variables":  {m{"env": many(31)}, "env"},
		"variable not a string": {m{"env": m{"A": 1}}, "env"},
		"variable without name": {m{"env": m{"": "1"}}, "env"},
		"onstart":               {m{"onstart": strings.Repeat("x", 4001)}, "onstart"},
		"disk low":              {m{"min_disk_gb": 9}, "min_disk_gb"},
		"disk high":             {m{"min_disk_gb": 2001}, "min_disk_gb"},
		"disk fraction":         {m{"min_disk_gb": 10.5}, "min_disk_gb"},
		"recommended below":     {m{"min_disk_gb": 50, "recommended_disk_gb": 49}, "recommended_disk_gb"},
		"recommended equal":     {m{"min_disk_gb": 50, "recommended_disk_gb": 50}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			body := m{"name": "name", "image": "a:1"}
			maps.Copy(body, c.body)
			a := r.do("POST", "/templates", body)
			if c.field != "" {
				a.invalid(c.field)
				return
			}
			var own struct{ Slug string }
			a.want(201).into(&own)
			r.do("DELETE", "/templates/"+own.Slug, nil).want(204)
		})
	}
}
