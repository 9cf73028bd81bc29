package tfkit

import (
	"fmt"

	datasource "github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	resource "github.com/hashicorp/terraform-plugin-framework/resource/schema"
)

// ForResource converts attributes of a data source to attributes of a resource, so that both are described once.
func ForResource(attributes map[string]datasource.Attribute) map[string]resource.Attribute {
	converted := make(map[string]resource.Attribute, len(attributes))
	for name, attribute := range attributes {
		converted[name] = forResource(name, attribute)
	}
	return converted
}

func forResource(name string, attribute datasource.Attribute) resource.Attribute {
	switch a := attribute.(type) {
	case datasource.StringAttribute:
		return resource.StringAttribute{
			Optional:            a.Optional,
			Computed:            a.Computed,
			MarkdownDescription: a.MarkdownDescription,
			Validators:          a.Validators,
		}
	case datasource.Int64Attribute:
		return resource.Int64Attribute{
			Optional:            a.Optional,
			Computed:            a.Computed,
			MarkdownDescription: a.MarkdownDescription,
			Validators:          a.Validators,
		}
	case datasource.Float64Attribute:
		return resource.Float64Attribute{
			Optional:            a.Optional,
			Computed:            a.Computed,
			MarkdownDescription: a.MarkdownDescription,
			Validators:          a.Validators,
		}
	case datasource.BoolAttribute:
		return resource.BoolAttribute{
			Optional:            a.Optional,
			Computed:            a.Computed,
			MarkdownDescription: a.MarkdownDescription,
			Validators:          a.Validators,
		}
	case datasource.SetAttribute:
		return resource.SetAttribute{
			Optional:            a.Optional,
			Computed:            a.Computed,
			ElementType:         a.ElementType,
			MarkdownDescription: a.MarkdownDescription,
			Validators:          a.Validators,
		}
	case datasource.SingleNestedAttribute:
		return resource.SingleNestedAttribute{
			Optional:            a.Optional,
			Computed:            a.Computed,
			MarkdownDescription: a.MarkdownDescription,
			Validators:          a.Validators,
			Attributes:          ForResource(a.Attributes),
		}
	case datasource.ListNestedAttribute:
		return resource.ListNestedAttribute{
			Optional: a.Optional, Computed: a.Computed, MarkdownDescription: a.MarkdownDescription, Validators: a.Validators,
			NestedObject: resource.NestedAttributeObject{Attributes: ForResource(a.NestedObject.Attributes)},
		}
	}
	panic(fmt.Sprintf("the attribute %s of type %T has no counterpart in a resource", name, attribute))
}
