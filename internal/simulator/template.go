package simulator

import (
	"net/http"
	"slices"
	"strings"
)

const (
	ownerCatalog = "catalog"
	ownerMe      = "me"

	launchSSH        = "ssh"
	launchJupyter    = "jupyter"
	launchEntrypoint = "entrypoint"

	maxOwnTemplates = 20
	minDiskGB       = 10
	maxDiskGB       = 2000
)

// template is an image with its launch configuration.
type template struct {
	Seq         int64
	Slug        string
	Name        string
	Description string
	Image       string
	LaunchMode  string
	Ports       []int64
	// Labels are the names of web interfaces by port. A port without a label is named by its number.
	Labels            map[int64]string
	Env               map[string]string
	Onstart           *string
	MinDiskGB         int64
	RecommendedDiskGB int64
	Owner             string
	// Custom lets a rental choose the image.
	Custom  bool
	Deleted bool
}

func (t *template) sequence() int64 { return t.Seq }

// hasSSH reports whether instances of the template have SSH. The launch mode entrypoint runs the entry point of the
// image instead.
func (t *template) hasSSH() bool { return t.LaunchMode != launchEntrypoint }

type templateView struct {
	Slug              string            `json:"slug"`
	Name              string            `json:"name"`
	Description       string            `json:"description"`
	Image             string            `json:"image"`
	LaunchMode        string            `json:"launch_mode"`
	Ports             []int64           `json:"ports"`
	Env               map[string]string `json:"env"`
	OnStart           *string           `json:"onstart"`
	MinDiskGB         int64             `json:"min_disk_gb"`
	RecommendedDiskGB int64             `json:"recommended_disk_gb"`
	Public            bool              `json:"public"`
	Owner             string            `json:"owner"`
}

func viewTemplate(t *template) templateView {
	return templateView{
		Slug: t.Slug, Name: t.Name, Description: t.Description, Image: t.Image, LaunchMode: t.LaunchMode,
		Ports: t.Ports, Env: t.Env, OnStart: t.Onstart, MinDiskGB: t.MinDiskGB, RecommendedDiskGB: t.RecommendedDiskGB,
		Public: t.Owner == ownerCatalog, Owner: t.Owner,
	}
}

func (e *engine) findTemplate(slug string) *template {
	for _, t := range e.Templates {
		if t.Slug == slug && !t.Deleted {
			return t
		}
	}
	return nil
}

func (e *engine) ownTemplates() (n int) {
	for _, t := range e.Templates {
		if t.Owner == ownerMe && !t.Deleted {
			n++
		}
	}
	return n
}

var (
	textImage = text{"образ контейнера с тегом, например registry.example/name:tag",
		"must be a container image with a tag, such as registry.example/name:tag"}
	textRecommended = text{"не может быть меньше min_disk_gb", "must not be below min_disk_gb"}
	textEnvName     = text{"недопустимое имя переменной", "a variable name must not be empty nor contain = or NUL"}
)

// readTemplate reads a TemplateCreate body. It does not set the slug.
func readTemplate(f *fields) (*template, error) {
	t := &template{Owner: ownerMe, LaunchMode: launchSSH, Ports: []int64{}, Env: map[string]string{},
		MinDiskGB: minDiskGB}
	f.require("name", "image")
	if name := f.str("name", 2, 60); name != nil {
		t.Name = *name
	}
	if image := f.str("image", 1, 500); image != nil {
		if t.Image = *image; !taggedImage(t.Image) {
			f.add("image", textImage)
		}
	}
	if description := f.str("description", 0, 500); description != nil {
		t.Description = *description
	}
	if mode := f.enum("launch_mode", launchSSH, launchJupyter, launchEntrypoint); mode != nil {
		t.LaunchMode = *mode
	}
	for _, port := range f.integers("ports", 10, 1, 65535) {
		if !slices.Contains(t.Ports, port) {
			t.Ports = append(t.Ports, port)
		}
	}
	for name, value := range f.stringMap("env", 30) {
		if name == "" || strings.ContainsAny(name, "=\x00") {
			f.add("env", textEnvName)
		}
		t.Env[name] = value
	}
	t.Onstart = f.str("onstart", 0, 4000)
	if disk := f.integer("min_disk_gb", minDiskGB, maxDiskGB); disk != nil {
		t.MinDiskGB = *disk
	}
	t.RecommendedDiskGB = t.MinDiskGB
	if disk := f.integer("recommended_disk_gb", minDiskGB, maxDiskGB); disk != nil {
		if t.RecommendedDiskGB = *disk; *disk < t.MinDiskGB {
			f.add("recommended_disk_gb", textRecommended)
		}
	}
	return t, f.finish()
}

// newSlug returns a unique slug that begins with the name.
func (e *engine) newSlug(name string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(name) {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
		if b.Len() >= 30 {
			break
		}
	}
	stem := strings.Trim(b.String(), "-")
	if stem == "" {
		stem = "template"
	}
	return stem + "-" + randomID(e.IDs.rand(), 8)
}

func (c *call) listTemplates() (any, error) {
	visible := func(t *template) bool {
		return !t.Deleted && (t.Owner == ownerCatalog || c.key != nil)
	}
	return listPage(c, "templates", parseQuery(c.r.URL), c.Templates, false, visible, viewTemplate)
}

func (c *call) createTemplate() (any, error) {
	t, err := readTemplate(c.fields)
	if err != nil {
		return nil, err
	}
	if c.ownTemplates() >= maxOwnTemplates {
		return nil, conflict(text{"Достигнут предел в 20 своих шаблонов", "The limit of 20 own templates is reached"})
	}
	c.status = http.StatusCreated
	t.Seq, t.Slug = c.nextSeq(), c.newSlug(t.Name)
	c.Templates = append(c.Templates, t)
	return viewTemplate(t), nil
}

// deleteTemplate hides the template. Its instances keep running.
func (c *call) deleteTemplate() (any, error) {
	t := c.findTemplate(c.params["slug"])
	if t == nil || t.Owner != ownerMe {
		return nil, notFound(text{"Шаблон не найден", "Own template not found"})
	}
	t.Deleted = true
	return nil, nil
}
