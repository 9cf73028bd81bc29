package console

import (
	"errors"
	"net/http"
	"strings"
)

const maxForm = 1 << 16 // bytes

// showLogin shows the approval page. There is one account without a password: everyone who can open the page acts as
// the owner of the account.
func (c *console) showLogin(w http.ResponseWriter, r *http.Request) {
	v := view{Lang: c.language(r), Text: c.text(r), EntersCode: true, Code: strings.TrimSpace(r.URL.Query().Get("code"))}
	status := http.StatusOK
	if v.Code != "" {
		login, err := c.service.Login(v.Code)
		if err == nil {
			v.Login = &login
		} else {
			status, v.Message = c.explain(r, err)
		}
	}
	c.write(w, status, typeHTML, v.fill(v.device()))
}

func (c *console) decideLogin(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	text := c.text(r)
	if http.NewCrossOriginProtection().Check(r) != nil { // a form of another site
		c.message(w, r, http.StatusForbidden, text["stale"])
		return
	}
	decision := r.PostFormValue("decision")
	if decision != "approve" && decision != "deny" {
		c.message(w, r, http.StatusUnprocessableEntity, text["stale"])
		return
	}
	if err := c.service.Decide(r.PostFormValue("code"), decision == "approve"); err != nil {
		status, message := c.explain(r, err)
		c.message(w, r, status, message)
		return
	}
	message := text["denied"]
	if decision == "approve" {
		message = text["approved"]
	}
	c.message(w, r, http.StatusOK, message)
}

// explain returns the status and the message of an error.
func (c *console) explain(r *http.Request, err error) (status int, message string) {
	refusal, ok := errors.AsType[*Refusal](err)
	if !ok {
		c.Log.Error("console: login", "error", err)
		return http.StatusInternalServerError, c.text(r)["broken"]
	}
	if c.language(r) == "ru" {
		return refusal.Status, refusal.RU
	}
	return refusal.Status, refusal.EN
}
