package sshkey

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/list/schema"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

var _ list.ListResourceWithConfigure = (*keyList)(nil)

type keyList struct{ tfkit.Resource }

// NewList returns the list resource gpurent_ssh_key.
func NewList() list.ListResource { return &keyList{tfkit.Resource{Name: "ssh_key"}} }

// ListResourceConfigSchema implements list.ListResource.
func (l *keyList) ListResourceConfigSchema(
	_ context.Context, _ list.ListResourceSchemaRequest, resp *list.ListResourceSchemaResponse,
) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Lists the public SSH keys of the account. Requires the scope `user:read`." + tfkit.AboutLimit,
	}
}

// List implements list.ListResource.
func (l *keyList) List(ctx context.Context, req list.ListRequest, stream *list.ListResultsStream) {
	results := tfkit.ListResults[rental.SSHKey, model]{
		Kind: "SSH keys",
		List: l.Meta.Client.ListSSHKeys,
		Display: func(k rental.SSHKey) (id, name string) {
			return k.ID, fmt.Sprintf("%s (%s %s)", k.Name, k.Type, canonical(k.Fingerprint))
		},
		Import: func(empty model, k rental.SSHKey) (model, diag.Diagnostics) { return fromAPI(empty, k), nil },
	}
	results.Stream(ctx, l.Meta, req, stream)
}
