package template

import (
	"context"
	"fmt"
	"regexp"
	"sync"

	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
)

// imageForm is how registries and their clients write an image: a host, if any,
// a path in lower case, a tag, which it captures, and a digest. It is compiled when
// an image is looked at, since every start of the provider would pay for it.
var imageForm = sync.OnceValue(func() *regexp.Regexp {
	const (
		label  = `[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?`
		host   = `(?:` + label + `(?:\.` + label + `)*|\[[0-9a-fA-F:]+\])(?::[0-9]+)?`
		part   = `[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*`
		tag    = `[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}`
		digest = `sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128}`
	)
	return regexp.MustCompile(`^(?:` + host + `/)?` + part + `(?:/` + part + `)*(?::(` + tag + `))?(?:@(?:` + digest + `))?$`)
})

// taggedImage accepts references of container images that name a tag.
type taggedImage struct{}

func (taggedImage) Description(context.Context) string { return "a container image with a tag" }

func (v taggedImage) MarkdownDescription(ctx context.Context) string { return v.Description(ctx) }

func (taggedImage) ValidateString(_ context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	if req.ConfigValue.IsNull() || req.ConfigValue.IsUnknown() {
		return
	}
	image := req.ConfigValue.ValueString()
	found := imageForm().FindStringSubmatch(image)
	switch {
	case found == nil:
		resp.Diagnostics.AddAttributeError(req.Path, "Not a container image",
			fmt.Sprintf("%q is not written as an image is: registry.example/team/app:1.2, for example, with a path in lower case.", image))
	case found[1] == "":
		resp.Diagnostics.AddAttributeError(req.Path, "Container image without a tag",
			fmt.Sprintf("The service wants a tag: %q, for example, and better a fixed version than latest.", image+":latest"))
	}
}
