package console

import (
	"embed"
	"encoding/json"
	"html/template"
	"net/http"
	"path"

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

// view is the data of a page.
type view struct {
	Lang string // "en" or "ru"
	Text texts
	// Login is the login to decide, nil for none. EntersCode: without one, the page asks for its code.
	Login      *Login
	EntersCode bool
	// Code is the entered user code. Message is the message to show.
	Code    string
	Message string
}

// contentTypes are the types of the assets. The registry of Windows can have others.
var contentTypes = map[string]string{
	".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
}

type console struct {
	Options
	service Service
	pages   *template.Template
}

// New returns a handler of the pages: the dashboard at / and the approval of device logins at /device.
func New(service Service, options Options) http.Handler {
	// Here, because every start of the provider runs initializers of packages.
	pages := template.Must(template.ParseFS(files, "pages/*.html"))
	c := &console{Options: options, service: service, pages: pages}
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

// view returns the data of a page in the language that the browser prefers.
func (c *console) view(r *http.Request) view {
	if c.Russian(r.Header.Get("Accept-Language")) {
		return view{Lang: "ru", Text: russian}
	}
	return view{Lang: "en", Text: english}
}

func (c *console) guarded(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !c.Guard(r) {
			v := c.view(r)
			c.message(w, v, http.StatusForbidden, v.Text["localOnly"])
			return
		}
		next(w, r)
	}
}

func (c *console) dashboard(w http.ResponseWriter, r *http.Request) {
	c.show(w, http.StatusOK, "dashboard.html", c.view(r))
}

func (c *console) asset(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	w.Header().Set("Content-Type", contentTypes[path.Ext(name)])
	http.ServeFileFS(w, r, files, "assets/"+name)
}

func (c *console) overview(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	if err := json.NewEncoder(w).Encode(c.service.Overview()); err != nil {
		c.Log.Debug("console: client disconnected", "error", err)
	}
}

// message shows a message on the page of logins.
func (c *console) message(w http.ResponseWriter, v view, status int, message string) {
	v.Message = message
	c.show(w, status, "device.html", v)
}

func (c *console) show(w http.ResponseWriter, status int, page string, v view) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	if err := c.pages.ExecuteTemplate(w, page, v); err != nil {
		c.Log.Debug("console: client disconnected", "error", err)
	}
}
