package quirks

import (
	"cmp"
	"net/url"
	"regexp"
	"strings"

	"github.com/gpurent/terraform-provider-gpurent/internal/contract/apidoc"
)

// route is an operation of the contract.
type route struct {
	apidoc.Operation
	// schema is the schema of a successful response, or of the items of a list. "" for none.
	schema string
	// spared reports whether it creates something without an idempotency key. The client cannot know whether a failed
	// creation was carried out, even if a gateway refuses it, because each response that is not of the API can hide a
	// success. The provider then stops with an error, so that no test could pass.
	spared bool
	// request matches the method and the path of a request.
	request *regexp.Regexp
}

func (rt *route) lists() bool { return strings.HasPrefix(rt.ID, "list") }

var routes = func() (list []*route) {
	parameter := regexp.MustCompile(`\\\{[a-z]+\\\}`)
	for _, op := range apidoc.Operations {
		pattern := parameter.ReplaceAllString(regexp.QuoteMeta(op.Method+" "+op.Path), "([^/]+)")
		list = append(list, &route{
			Operation: op, schema: strings.TrimSuffix(cmp.Or(op.Created, op.Response), "Page"),
			spared:  op.Created != "" && op.ID != "createInstance",
			request: regexp.MustCompile("^" + pattern + "$"),
		})
	}
	return list
}()

// findRoute returns the operation of a request, or nil, and its path parameter.
func findRoute(method, requestPath string) (found *route, id string) {
	for _, rt := range routes {
		if match := rt.request.FindStringSubmatch(method + " " + requestPath); match != nil {
			id, err := url.PathUnescape(strings.Join(match[1:], ""))
			if err != nil {
				return nil, ""
			}
			return rt, id
		}
	}
	return nil, ""
}
