package console

import (
	"encoding/json"
	"html"
	"strings"
)

// view is the data of a page.
type view struct {
	Lang string
	Text texts
	// Login is the login to decide, nil for none. EntersCode: without one, the page asks for its code.
	Login      *Login
	EntersCode bool
	// Code is the entered user code. Message is the message to show.
	Code    string
	Message string
}

// device returns the page of device logins, without its values.
func (v view) device() string {
	notice, main := "", "another.html"
	if v.Message != "" {
		notice = file("notice.html")
	}
	switch {
	case v.Login != nil:
		main = "decision.html"
	case v.EntersCode:
		main = "code.html"
	}
	return strings.NewReplacer("{{notice}}", notice, "{{main}}", file(main)).Replace(file("device.html"))
}

// fill replaces each {{name}} in a page by its value. It escapes all values for HTML text and quoted attributes, so a
// page must not contain a {{name}} elsewhere: in a script, a style, or an attribute without quotes.
func (v view) fill(page string) string {
	values := map[string]string{
		"lang": v.Lang, "code": v.Code, "message": v.Message,
	}
	if v.Login != nil {
		values["code"], values["client"] = v.Login.UserCode, v.Login.ClientName
	}
	for name, text := range v.Text {
		values["text."+name] = text
	}
	all, err := json.Marshal(v.Text) // for the dashboard's script
	if err != nil {
		panic(err) // a map of strings
	}
	values["texts"] = string(all)
	var pairs []string
	for name, value := range values {
		pairs = append(pairs, "{{"+name+"}}", html.EscapeString(value))
	}
	return strings.NewReplacer(pairs...).Replace(page)
}

// file returns a file of the folder pages.
func file(name string) string {
	content, err := files.ReadFile("pages/" + name)
	if err != nil {
		panic(err) // the folder is embedded
	}
	return string(content)
}
