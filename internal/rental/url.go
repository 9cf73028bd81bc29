package rental

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
)

const versionSuffix = "/api/v1"

// parseBaseURL parses and checks a base URL. Errors do not contain it, because it may contain a password.
func parseBaseURL(raw string) (*url.URL, error) {
	if raw == "" {
		return nil, errors.New("the base URL is empty")
	}
	u, err := url.Parse(raw)
	switch {
	case err != nil:
		return nil, errors.New("the base URL is not a valid URL")
	case u.User != nil:
		return nil, errors.New("the base URL contains user information; authentication is by API key only")
	case u.Scheme != "https" && u.Scheme != "http":
		return nil, errors.New("the base URL does not begin with https://")
	case u.Hostname() == "":
		return nil, errors.New("the base URL has no host")
	case u.Scheme == "http" && !IsLoopback(u.Hostname()):
		return nil, fmt.Errorf("the base URL is plain http, which would show the API key to the network: use https for %s, "+
			"or, for a simulator in another container, share its network and use http://127.0.0.1", u.Hostname())
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || strings.HasSuffix(raw, "#"):
		return nil, errors.New("the base URL has a query or a fragment")
	}
	u.Path, u.RawPath = strings.TrimRight(u.Path, "/"), strings.TrimRight(u.RawPath, "/")
	if !strings.HasSuffix(u.Path, versionSuffix) {
		return nil, fmt.Errorf("the base URL does not end with %s", versionSuffix)
	}
	return u, nil
}

// IsLoopback reports whether a host is localhost or a loopback address. It does not resolve names.
func IsLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	address, err := netip.ParseAddr(host)
	return err == nil && address.Zone() == "" && address.Unmap().IsLoopback()
}

var errPathElement = errors.New(`an id cannot be empty, "." or ".."`)

// escapePath joins path elements, which may contain any characters. "." and ".." are errors: servers and proxies
// resolve them even if they are escaped.
func escapePath(elements []string) (string, error) {
	var path strings.Builder
	for _, element := range elements {
		if element == "" || element == "." || element == ".." {
			return "", errPathElement
		}
		path.WriteByte('/')
		path.WriteString(url.PathEscape(element))
	}
	return path.String(), nil
}
