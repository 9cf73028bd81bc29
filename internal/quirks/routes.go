package quirks

import (
	"encoding/json"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/gpurent/terraform-provider-gpurent/internal/contract"
)

// route is an operation of the contract.
type route struct {
	id, method, pattern string
	// schema is the schema of a successful response, or of the items of a list. "" for none.
	schema string
	// spared reports whether it creates something without an idempotency key. The client cannot know whether a failed
	// creation was carried out, even if a gateway refuses it, because each response that is not of the API can hide a
	// success. The provider then stops with an error, so that no test could pass.
	spared bool
}

func (rt *route) lists() bool { return strings.HasPrefix(rt.id, "list") }

// document is the part of the contract that quirks depend on.
type document struct {
	Paths map[string]struct {
		Get, Post, Patch, Delete *contractOperation
	}
	Components struct {
		Schemas map[string]struct {
			Required   []string
			Properties map[string]property
		}
	}
}

type property struct {
	Type, Format string
	Nullable     bool
	Enum         []any
}

type contractOperation struct {
	OperationID string
	Parameters  []struct{ Name string }
	Responses   map[string]struct {
		Content map[string]struct {
			Schema struct {
				Ref string `json:"$ref"`
			}
		}
	}
}

var contractDocument = sync.OnceValue(func() (d document) {
	if err := json.Unmarshal(contract.Document(), &d); err != nil {
		panic("quirks: the contract: " + err.Error())
	}
	return d
})

var routes = sync.OnceValue(func() (list []route) {
	for pattern, item := range contractDocument().Paths {
		for method, op := range map[string]*contractOperation{
			http.MethodGet: item.Get, http.MethodPost: item.Post, http.MethodPatch: item.Patch,
			http.MethodDelete: item.Delete,
		} {
			if op == nil {
				continue
			}
			rt := route{id: op.OperationID, method: method, pattern: pattern}
			rt.spared = op.Responses["201"].Content != nil && len(op.Parameters) == 0
			for status, response := range op.Responses {
				if ref := response.Content["application/json"].Schema.Ref; status[0] == '2' && ref != "" {
					rt.schema = strings.TrimSuffix(path.Base(ref), "Page")
				}
			}
			list = append(list, rt)
		}
	}
	return list
})

// findRoute returns the operation of a request, or nil, and its path parameter.
func findRoute(method, requestPath string) (found *route, id string) {
	have := strings.Split(requestPath, "/")
	for n := range routes() {
		rt := &routes()[n]
		want := strings.Split(rt.pattern, "/")
		if rt.method != method || len(want) != len(have) {
			continue
		}
		id, matches := "", true
		for n, segment := range want {
			if strings.HasPrefix(segment, "{") {
				value, err := url.PathUnescape(have[n])
				id, matches = value, matches && err == nil && value != ""
			} else {
				matches = matches && segment == have[n]
			}
		}
		if matches {
			return rt, id
		}
	}
	return nil, ""
}

// optionalFields are the fields that are not required, by schema.
var optionalFields = sync.OnceValue(func() map[string][]string {
	optional := map[string][]string{}
	for name, schema := range contractDocument().Components.Schemas {
		for field := range schema.Properties {
			if !slices.Contains(schema.Required, field) {
				optional[name] = append(optional[name], field)
			}
		}
		slices.Sort(optional[name])
	}
	return optional
})
