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
	v := c.view(r)
	v.EntersCode, v.Code = true, strings.TrimSpace(r.URL.Query().Get("code"))
	status := http.StatusOK
	if v.Code != "" {
		login, err := c.service.Login(v.Code)
		if err == nil {
			v.Login = &login
		} else {
			status, v.Message = c.explain(v, err)
		}
	}
	c.show(w, status, "device.html", v)
}

func (c *console) decideLogin(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	v := c.view(r)
	if http.NewCrossOriginProtection().Check(r) != nil { // a form of another site
		c.message(w, v, http.StatusForbidden, v.Text["stale"])
		return
	}
	decision := r.PostFormValue("decision")
	if decision != "approve" && decision != "deny" {
		c.message(w, v, http.StatusUnprocessableEntity, v.Text["stale"])
		return
	}
	if err := c.service.Decide(r.PostFormValue("code"), decision == "approve"); err != nil {
		status, message := c.explain(v, err)
		c.message(w, v, status, message)
		return
	}
	message := v.Text["denied"]
	if decision == "approve" {
		message = v.Text["approved"]
	}
	c.message(w, v, http.StatusOK, message)
}

// explain returns the status and the message of an error.
func (c *console) explain(v view, err error) (status int, message string) {
	refusal, ok := errors.AsType[*Refusal](err)
	switch {
	case !ok:
		c.Log.Error("console: login", "error", err)
		return http.StatusInternalServerError, v.Text["broken"]
	case v.Lang == "ru":
		return refusal.Status, refusal.RU
	}
	return refusal.Status, refusal.EN
}
