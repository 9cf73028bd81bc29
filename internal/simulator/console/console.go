package console

import (
	"embed"
	"encoding/json"
	"io"
	"net/http"
	"path"
	"strconv"

	"github.com/hashicorp/go-hclog"
)

// DevicePath is the path of the page that approves device logins.
const DevicePath = "/device"

// Options configure the pages. All fields are required.
type Options struct {
	// Guard reports whether a request may see the dashboard. It must refuse pages of other sites.
	Guard func(*http.Request) bool
	// Russian reports whether an Accept-Language header prefers Russian to English.
	Russian func(acceptLanguage string) bool
	// Log receives errors. Secrets are never logged.
	Log hclog.Logger
}

//go:embed pages assets
var files embed.FS

// policy allows only the pages' own styles and scripts.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
	"form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

// Values of the header Content-Type.
const (
	typeHTML   = "text/html; charset=utf-8"
	typeScript = "text/javascript; charset=utf-8"
	typeStyle  = "text/css; charset=utf-8"
)

type console struct {
	Options
	service Service
}

// New returns a handler of the pages: the dashboard at / and the approval of device logins at /device.
func New(service Service, options Options) http.Handler {
	c := &console{Options: options, service: service}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", c.guarded(c.dashboard))
	mux.HandleFunc("GET /console/overview", c.guarded(c.overview))
	mux.HandleFunc("GET /console/assets/{name}", c.asset)
	mux.HandleFunc("GET "+DevicePath, c.showLogin)
	mux.HandleFunc("POST "+DevicePath, c.decideLogin)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Cache-Control", "no-store")
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		// With no-referrer, browsers send the Origin "null" with forms.
		h.Set("Referrer-Policy", "same-origin")
		mux.ServeHTTP(w, r)
	})
}

func (c *console) guarded(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !c.Guard(r) {
			c.message(w, r, http.StatusForbidden, c.text(r)["localOnly"])
			return
		}
		next(w, r)
	}
}

func (c *console) dashboard(w http.ResponseWriter, r *http.Request) {
	v := view{Lang: c.language(r), Text: c.text(r)}
	c.write(w, http.StatusOK, typeHTML, v.fill(file("dashboard.html")))
}

func (c *console) asset(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	content, err := files.ReadFile("assets/" + name)
	if err != nil {
		http.NotFound(w, r)
		return
	}
	kind := typeScript
	if path.Ext(name) == ".css" {
		kind = typeStyle
	}
	c.write(w, http.StatusOK, kind, string(content))
}

func (c *console) overview(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	if err := json.NewEncoder(w).Encode(c.service.Overview()); err != nil {
		c.Log.Debug("console: client disconnected", "error", err)
	}
}

func (c *console) message(w http.ResponseWriter, r *http.Request, status int, message string) {
	v := view{Lang: c.language(r), Text: c.text(r), Message: message}
	c.write(w, status, typeHTML, v.fill(v.device()))
}

func (c *console) write(w http.ResponseWriter, status int, kind, content string) {
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Length", strconv.Itoa(len(content)))
	w.WriteHeader(status)
	if _, err := io.WriteString(w, content); err != nil {
		c.Log.Debug("console: client disconnected", "error", err)
	}
}
