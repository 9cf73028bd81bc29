package contracttest

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"

	"github.com/gpurent/terraform-provider-gpurent/internal/contract/apidoc"
)

// document is the compiled contract. It is read-only after load, so all checkers share it.
type document struct {
	*openapi3.T
	router  routers.Router
	options *openapi3filter.Options
}

// load compiles the contract once per process.
var load = sync.OnceValues(func() (*document, error) {
	doc, err := apidoc.Load()
	if err != nil {
		return nil, err
	}
	if err := makeStrict(doc); err != nil {
		return nil, fmt.Errorf("tighten the contract: %w", err)
	}
	router, err := gorillamux.NewRouter(doc)
	if err != nil {
		return nil, fmt.Errorf("route the contract: %w", err)
	}
	return &document{
		T: doc, router: router,
		options: &openapi3filter.Options{
			MultiError:                        true,
			RejectWhenRequestBodyNotSpecified: true,
			SkipSettingDefaults:               true, // validation must not change the request
			AuthenticationFunc:                openapi3filter.NoopAuthenticationFunc,
			SchemaValidationOptions:           schemaOptions,
		},
	}, nil
})

// schemaOptions require times in UTC and keep values, which may be secret, out of messages.
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

// makeStrict makes the response schemas stricter than the document: clients must tolerate unknown fields and values,
// but the simulator must not send any. The library has no option for this.
func makeStrict(doc *openapi3.T) error {
	for _, item := range doc.Paths.Map() {
		for _, op := range item.Operations() {
			for _, response := range op.Responses.Map() {
				for _, media := range response.Value.Content {
					if err := media.Schema.WalkSubtree(makeSchemaStrict); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

// makeSchemaStrict forbids fields and values that the schema does not list.
func makeSchemaStrict(_ string, ref *openapi3.SchemaRef) error {
	s := ref.Value
	if s.Type.Is(openapi3.TypeObject) && s.AdditionalProperties.Has == nil && s.AdditionalProperties.Schema == nil {
		never := false
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
