package rental

import (
	"context"
	"iter"
	"net/http"
)

// LaunchMode is how the container of a template is started.
type LaunchMode string

// The known launch modes.
const (
	LaunchSSH        LaunchMode = "ssh"
	LaunchJupyter    LaunchMode = "jupyter"
	LaunchEntrypoint LaunchMode = "entrypoint"
)

// TemplateOwner is the owner of a template.
type TemplateOwner string

// The known owners.
const (
	OwnerCatalog TemplateOwner = "catalog" // the provider of the API
	OwnerMe      TemplateOwner = "me"      // the account of the API key
)

// CustomTemplate is the slug of the template that accepts any image.
const CustomTemplate = "custom"

// Template is the software of an instance.
type Template struct {
	Slug              string            `json:"slug"` // the id, for InstanceCreate.Template
	Name              string            `json:"name"`
	Description       string            `json:"description"`
	Image             string            `json:"image"`
	LaunchMode        LaunchMode        `json:"launch_mode"`
	Ports             []int64           `json:"ports"` // container ports
	Env               map[string]string `json:"env"`
	OnStart           *string           `json:"onstart"` // command; nil for none
	MinDiskGB         int64             `json:"min_disk_gb"`
	RecommendedDiskGB int64             `json:"recommended_disk_gb"`
	Public            bool              `json:"public"` // visible to everyone
	Owner             TemplateOwner     `json:"owner"`
}

func (t Template) identity() string { return t.Slug }

// TemplateCreate contains the fields of a new template. Name and Image are required. A zero field is not sent, and the
// API uses its default.
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

// ListTemplates lists the catalog and, with a key, the account's own templates. It needs no scope; an invalid key is an
// error.
func (c *Client) ListTemplates(ctx context.Context, options ListOptions) iter.Seq2[Template, error] {
	return list[Template](ctx, c, request{path: []string{"templates"}, auth: authOptional}, options)
}

// CreateTemplate creates a private template. Scope: instances:write. The error is IsConflict if the account has 20. The
// API has no idempotency key for it: after IsOutcomeUnknown, list the templates.
func (c *Client) CreateTemplate(ctx context.Context, template TemplateCreate) (Template, error) {
	return fetch[Template](ctx, c, request{
		method: http.MethodPost, path: []string{"templates"}, scope: ScopeInstancesWrite, body: template,
		idempotency: notIdempotent, success: created,
	})
}

// DeleteTemplate deletes a template of the account; its instances keep running. Scope: instances:write. As with all
// deletions, the error can be IsNotFound after a retry, if the first response was lost.
func (c *Client) DeleteTemplate(ctx context.Context, slug string) error {
	return c.send(ctx, request{
		method: http.MethodDelete, path: []string{"templates", slug}, scope: ScopeInstancesWrite, success: noContent,
	})
}
