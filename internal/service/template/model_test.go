package template

import (
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// After a lost response, a template that the API spells otherwise is the one that was created, and one that lacks what
// was sent is not.
func TestMayBeCreated(t *testing.T) {
	create := rental.TemplateCreate{
		Name: "Trainer", Description: "line 1\r\nline 2", Image: "ubuntu:24.04", LaunchMode: rental.LaunchSSH,
		Ports: []int64{8888, 22}, Env: map[string]string{"A": "b c"}, OnStart: "run \r\nstop\r\n", MinDiskGB: 35,
	}
	full := rental.Template{
		Slug: "t", Name: "Trainer", Description: "line 1\nline 2", Image: "docker.io/library/ubuntu:24.04",
		LaunchMode: "secure_shell", Ports: []int64{22, 6006, 8888}, Env: map[string]string{"A": "b c ", "TZ": "UTC"},
		OnStart: new("#!/bin/sh\nrun\nstop\n\nexit"), MinDiskGB: 40, RecommendedDiskGB: 40, Owner: rental.OwnerMe,
	}
	for name, test := range map[string]struct {
		change func(*rental.Template)
		want   bool
	}{
		"other spellings":      {func(*rental.Template) {}, true},
		"only the name":        {func(t *rental.Template) { *t = rental.Template{Slug: "t", Name: "Trainer"} }, true},
		"another name":         {func(t *rental.Template) { t.Name = "Trainer 2" }, false},
		"another image":        {func(t *rental.Template) { t.Image = "ubuntu:22.04" }, false},
		"another command":      {func(t *rental.Template) { t.OnStart = new("run") }, false},
		"another description":  {func(t *rental.Template) { t.Description = "line" }, false},
		"a missing port":       {func(t *rental.Template) { t.Ports = []int64{22} }, false},
		"another variable":     {func(t *rental.Template) { t.Env = map[string]string{"A": "c"} }, false},
		"a missing variable":   {func(t *rental.Template) { t.Env = map[string]string{} }, false},
		"a command beside ''":  {func(t *rental.Template) { t.Slug = "empty" }, false},
		"omitted ports or env": {func(t *rental.Template) { t.Ports, t.Env = nil, nil }, true},
	} {
		sent, got := create, full
		test.change(&got)
		if got.Slug == "empty" {
			sent.OnStart = ""
		}
		if mayBeCreated(sent, got) != test.want {
			t.Errorf("%s: want %t: %+v", name, test.want, got)
		}
	}
}
