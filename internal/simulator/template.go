package simulator

import (
	"slices"
	"strings"

	"github.com/distribution/reference"
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

// template is an image with the way to start it.
type template struct {
	seq         int64
	slug        string
	name        string
	description string
	image       string
	launchMode  string
	ports       []int64
	// labels names the web interface behind a port; a port without a label is called by its number.
	labels            map[int64]string
	env               map[string]string
	onstart           *string
	minDiskGB         int64
	recommendedDiskGB int64
	owner             string
	// custom lets a rental choose the image.
	custom  bool
	deleted bool
}

func (t *template) number() int64 { return t.seq }

// hasSSH tells whether servers of the template get an SSH port: the other launch mode runs the image's own entrypoint.
func (t *template) hasSSH() bool { return t.launchMode != launchEntrypoint }

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
		Slug: t.slug, Name: t.name, Description: t.description, Image: t.image, LaunchMode: t.launchMode,
		Ports: t.ports, Env: t.env, OnStart: t.onstart, MinDiskGB: t.minDiskGB, RecommendedDiskGB: t.recommendedDiskGB,
		Public: t.owner == ownerCatalog, Owner: t.owner,
	}
}

func (w *world) findTemplate(slug string) *template {
	for _, t := range w.catalog {
		if t.slug == slug && !t.deleted {
			return t
		}
	}
	return nil
}

func (w *world) ownTemplates() (n int) {
	for _, t := range w.catalog {
		if t.owner == ownerMe && !t.deleted {
			n++
		}
	}
	return n
}

var (
	textImage       = text{"образ контейнера с тегом, например registry.example/name:tag", "must be a container image with a tag, such as registry.example/name:tag"}
	textRecommended = text{"не может быть меньше min_disk_gb", "must not be below min_disk_gb"}
	textEnvName     = text{"недопустимое имя переменной", "a variable name must not be empty nor contain = or NUL"}
)

// taggedImage tells whether a string is an image reference with a tag.
func taggedImage(image string) bool {
	named, err := reference.ParseNormalizedNamed(image)
	if err != nil {
		return false
	}
	_, tagged := named.(reference.NamedTagged)
	return tagged
}

// readTemplate reads a TemplateCreate body; the slug is not yet chosen.
func readTemplate(f *fields) (*template, error) {
	t := &template{owner: ownerMe, launchMode: launchSSH, ports: []int64{}, env: map[string]string{}, minDiskGB: minDiskGB}
	f.need("name", "image")
	if name := f.str("name", 2, 60); name != nil {
		t.name = *name
	}
	if image := f.str("image", 1, 500); image != nil {
		if t.image = *image; !taggedImage(t.image) {
			f.add("image", textImage)
		}
	}
	if description := f.str("description", 0, 500); description != nil {
		t.description = *description
	}
	if mode := f.enum("launch_mode", launchSSH, launchJupyter, launchEntrypoint); mode != nil {
		t.launchMode = *mode
	}
	for _, port := range f.integers("ports", 10, 1, 65535) {
		if !slices.Contains(t.ports, port) {
			t.ports = append(t.ports, port)
		}
	}
	for name, value := range f.stringMap("env", 30) {
		if name == "" || strings.ContainsAny(name, "=\x00") {
			f.add("env", textEnvName)
		}
		t.env[name] = value
	}
	t.onstart = f.str("onstart", 0, 4000)
	if disk := f.integer("min_disk_gb", minDiskGB, maxDiskGB); disk != nil {
		t.minDiskGB = *disk
	}
	t.recommendedDiskGB = t.minDiskGB
	if disk := f.integer("recommended_disk_gb", minDiskGB, maxDiskGB); disk != nil {
		if t.recommendedDiskGB = *disk; *disk < t.minDiskGB {
			f.add("recommended_disk_gb", textRecommended)
		}
	}
	return t, f.end()
}

// newSlug makes a slug that says what the template is and is nobody else's.
func (w *world) newSlug(name string) string {
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
	return stem + "-" + randomID(w.ids, 8)
}
