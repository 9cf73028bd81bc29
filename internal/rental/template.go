package rental

import (
	"cmp"
	"context"
	"iter"
	"net/http"
)

// LaunchMode is how a container is started and reached.
type LaunchMode string

// The known launch modes.
const (
	LaunchSSH        LaunchMode = "ssh"
	LaunchJupyter    LaunchMode = "jupyter"
	LaunchEntrypoint LaunchMode = "entrypoint"
)

// TemplateOwner says whose template it is.
type TemplateOwner string

// The known owners.
const (
	OwnerCatalog TemplateOwner = "catalog" // the service
	OwnerMe      TemplateOwner = "me"      // the key's account
)

// Template is what an instance is started from.
type Template struct {
	Slug              string            `json:"slug"` // identity, for InstanceCreate.Template
	Name              string            `json:"name"`
	Description       string            `json:"description"`
	Image             string            `json:"image"`
	LaunchMode        LaunchMode        `json:"launch_mode"`
	Ports             []int64           `json:"ports"` // of the container
	Env               map[string]string `json:"env"`
	OnStart           *string           `json:"onstart"` // command; nil when there is none
	MinDiskGB         int64             `json:"min_disk_gb"`
	RecommendedDiskGB int64             `json:"recommended_disk_gb"`
	Public            bool              `json:"public"` // visible to everyone
	Owner             TemplateOwner     `json:"owner"`
}

func (t Template) identity() string { return t.Slug }

func (t *Template) readIdentity(body []byte) { t.Slug = cmp.Or(t.Slug, firstText(body, "slug")) }

// TemplateCreate describes an own template. Name and Image are required; a zero field is not sent, so the service's default holds.
type TemplateCreate struct {
	Name              string            `json:"name"`                          // 2 to 60 characters
	Image             string            `json:"image"`                         // with a tag
	Description       string            `json:"description,omitempty"`         // up to 500 characters
	LaunchMode        LaunchMode        `json:"launch_mode,omitempty"`         // default LaunchSSH
	Ports             []int64           `json:"ports,omitzero"`                // up to 10, each 1 to 65535
	Env               map[string]string `json:"env,omitzero"`                  // up to 30 variables
	OnStart           string            `json:"onstart,omitempty"`             // up to 4000 characters
	MinDiskGB         int64             `json:"min_disk_gb,omitempty"`         // 10 to 2000
	RecommendedDiskGB int64             `json:"recommended_disk_gb,omitempty"` // 10 to 2000
}

// ListTemplates lists the service's catalogue and, with any valid key, the account's own templates too: no scope is needed. A bad key is an error here.
func (c *Client) ListTemplates(ctx context.Context, options ListOptions) iter.Seq2[Template, error] {
	return list[Template](ctx, c, request{path: []string{"templates"}, access: optionalKey}, options)
}

// CreateTemplate makes an own template, visible to its owner only. Scope: instances:write. IsConflict at the limit of 20.
// There is no idempotency key: look at the list when IsOutcomeUnknown.
func (c *Client) CreateTemplate(ctx context.Context, template TemplateCreate) (Template, error) {
	return fetch[Template](ctx, c, request{method: http.MethodPost, path: []string{"templates"}, scope: ScopeInstancesWrite, body: template, repeat: onlyOnce, success: created})
}

// DeleteTemplate hides an own template; instances made from it keep running. Scope: instances:write. IsNotFound also when an answer
// was lost and the transport repeated the request; so with all deletions.
func (c *Client) DeleteTemplate(ctx context.Context, slug string) error {
	return c.send(ctx, request{method: http.MethodDelete, path: []string{"templates", slug}, scope: ScopeInstancesWrite, success: noContent})
}
