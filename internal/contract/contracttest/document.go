package contracttest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"

	"github.com/gpurent/terraform-provider-gpurent/internal/contract"
)

// document is the contract, compiled for checking. It is never written to
// after load, so that all checkers of a process share it.
type document struct {
	router       routers.Router
	errorContent openapi3.Content // the form of every error
	base         string           // path of the base address
	options      *openapi3filter.Options
}

// load compiles the contract once per process.
var load = sync.OnceValues(func() (*document, error) {
	doc, err := openapi3.NewLoader().LoadFromData(contract.Document())
	if err != nil {
		return nil, fmt.Errorf("load the contract: %w", err)
	}
	if err := doc.Validate(context.Background()); err != nil {
		return nil, fmt.Errorf("validate the contract: %w", err)
	}
	if err := tighten(doc); err != nil {
		return nil, fmt.Errorf("tighten the contract: %w", err)
	}
	router, err := gorillamux.NewRouter(doc)
	if err != nil {
		return nil, fmt.Errorf("route the contract: %w", err)
	}
	return &document{
		router:       router,
		errorContent: openapi3.NewContentWithJSONSchemaRef(doc.Components.Schemas["Error"]),
		base:         doc.Servers[0].URL,
		options: &openapi3filter.Options{
			MultiError:                        true,
			IncludeResponseStatus:             true,
			RejectWhenRequestBodyNotSpecified: true,
			SkipSettingDefaults:               true, // a witness changes nothing
			AuthenticationFunc:                openapi3filter.NoopAuthenticationFunc,
			SchemaValidationOptions:           schemaOptions,
		},
	}, nil
})

// schemaOptions hold times to the contract's word, UTC, and keep values, which
// may be secret, out of the messages.
var schemaOptions = []openapi3.SchemaValidationOption{
	openapi3.DisableSchemaErrorDetails(),
	openapi3.WithStringFormatValidator("date-time", openapi3.NewCallbackValidator(utcTime)),
}

func utcTime(value string) error {
	at, err := time.Parse(time.RFC3339, value)
	if err != nil {
		return errors.New("not an RFC 3339 time")
	}
	if _, offset := at.Zone(); offset != 0 {
		return errors.New("not in UTC")
	}
	return nil
}

// tighten makes the response schemas stricter than published: clients must
// tolerate unknown fields and values, but our simulator must not send any.
func tighten(doc *openapi3.T) error {
	never := false
	tightenSchema := func(_ string, ref *openapi3.SchemaRef) error {
		s := ref.Value
		if s.Type.Is(openapi3.TypeObject) && s.AdditionalProperties.Has == nil && s.AdditionalProperties.Schema == nil {
			s.AdditionalProperties.Has = &never
		}
		if known, ok := s.Extensions["x-extensible-enum"]; ok {
			values, ok := known.([]any)
			if !ok {
				return fmt.Errorf("x-extensible-enum is %T, not a list", known)
			}
			s.Enum = values
		}
		return nil
	}
	for _, item := range doc.Paths.Map() {
		for _, op := range item.Operations() {
			for _, response := range op.Responses.Map() {
				for _, media := range response.Value.Content {
					if err := media.Schema.WalkSubtree(tightenSchema); err != nil {
						return err
					}
				}
			}
		}
	}
	return doc.Components.Schemas["Error"].WalkSubtree(tightenSchema)
}
