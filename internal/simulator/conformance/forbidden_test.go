package conformance

import (
	"net/http"
	"strings"
	"testing"
)

// Every status against every action: what the state allows, and what it forbids. A destroyed instance is found: GET and
// status=all show it. So its state forbids, with 409, what the document lists a 409 for; a new name and the log have none.
func TestStateMatrix(t *testing.T) {
	s := start(t)
	const yes, no = "", "conflict"
	actions := []string{"start", "stop", "patch", "logs", "get", "delete"}
	for status, row := range map[string]struct {
		desired string
		answers []string // one for each action
	}{
		"creating": {"running", []string{no, yes, yes, yes, yes, yes}},
		"starting": {"running", []string{no, yes, yes, yes, yes, yes}},
		"running":  {"running", []string{no, yes, yes, yes, yes, yes}},
		"stopping": {"stopped", []string{no, no, yes, yes, yes, yes}},
		"stopped":  {"stopped", []string{yes, no, yes, yes, yes, yes}},
		"outbid":   {"running", []string{yes, "?", yes, yes, yes, yes}},
		// whether outbid is heading to running, the document does not say
		"failed":     {"running", []string{no, "?", yes, yes, yes, yes}},
		"destroying": {"destroyed", []string{no, no, yes, yes, yes, no}},
		"destroyed":  {"destroyed", []string{no, no, yes, yes, yes, no}},
	} {
		for n, action := range actions {
			i := s.running(object{"type": "interruptible"})
			id := text(i, "id")
			s.force(id, object{"status": status, "desired_state": row.desired})
			path := "/instances/" + id
			var a answer
			switch action {
			case "patch":
				a = s.call(http.MethodPatch, path, object{"name": "new"})
			case "logs":
				a = s.get(path + "/logs")
			case "get":
				a = s.get(path)
			case "delete":
				a = s.delete(path)
			default:
				a = s.act(id, action)
			}
			a.what = action + " while " + status
			switch row.answers[n] {
			case yes:
				check(t, a.status == http.StatusOK, "%s: %d %.200s", a.what, a.status, a.raw)
			case "?":
				check(t, a.status == http.StatusOK || a.status == http.StatusConflict, "%s: %d %.200s", a.what,
					a.status, a.raw)
			default:
				a.fails(row.answers[n])
				equal(t, a.what+", which is refused: status", text(s.instance(id), "status"), status)
				equal(t, a.what+", which is refused: desired_state", text(s.instance(id), "desired_state"), row.desired)
			}
			if status != "destroyed" && text(s.instance(id), "status") != "destroying" {
				s.delete(path).ok()
			}
			s.force(id, object{"status": "destroyed"})
		}
	}
}

// A start that is on its way cannot be started again, nor a stop stopped again.
func TestStateRepeatedActions(t *testing.T) {
	s := start(t)
	id := text(s.running(nil), "id")
	s.act(id, "start").fails("conflict")
	s.act(id, "stop").ok()
	s.act(id, "stop").fails("conflict")
	s.settle(id, "stopped")
	s.act(id, "stop").fails("conflict")
	s.act(id, "start").ok()
	s.act(id, "start").fails("conflict")
	s.settle(id, "running")
	check(t, !strings.Contains(text(s.instance(id), "stop_reason"), "low"), "stop_reason of a running server")

	// A stop during the boot is heading elsewhere: the server does not come up.
	booting := text(s.rent(nil), "id")
	s.act(booting, "stop").ok()
	s.settle(booting, "stopped")
	s.advance(600)
	equal(t, "status of one that was stopped during its boot", text(s.instance(booting), "status"), "stopped")
}
