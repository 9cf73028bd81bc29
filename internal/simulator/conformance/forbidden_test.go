package conformance

import (
	"net/http"
	"strings"
	"testing"
)

// Each status with each action. A destroyed instance can still be read, so actions on it fail with 409 where the
// document lists it. A new name and the log have no 409.
func TestStateActions(t *testing.T) {
	s := start(t)
	const yes, no = "", "conflict"
	actions := []string{"start", "stop", "patch", "logs", "get", "delete"}
	for status, row := range map[string]struct {
		desired   string
		responses []string // one for each action
	}{
		"creating": {"running", []string{no, yes, yes, yes, yes, yes}},
		"starting": {"running", []string{no, yes, yes, yes, yes, yes}},
		"running":  {"running", []string{no, yes, yes, yes, yes, yes}},
		"stopping": {"stopped", []string{no, no, yes, yes, yes, yes}},
		"stopped":  {"stopped", []string{yes, no, yes, yes, yes, yes}},
		"outbid":   {"running", []string{yes, "?", yes, yes, yes, yes}},
		// the document does not define the desired state while outbid
		"failed":     {"running", []string{no, "?", yes, yes, yes, yes}},
		"destroying": {"destroyed", []string{no, no, yes, yes, yes, no}},
		"destroyed":  {"destroyed", []string{no, no, yes, yes, yes, no}},
	} {
		for n, action := range actions {
			i := s.running(object{"type": "interruptible"})
			id := text(i, "id")
			s.setInstance(id, object{"status": status, "desired_state": row.desired})
			path := "/instances/" + id
			var a response
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
				a = s.action(id, action)
			}
			a.request = action + " while " + status
			switch row.responses[n] {
			case yes:
				check(t, a.status == http.StatusOK, "%s: %d %.200s", a.request, a.status, a.raw)
			case "?":
				check(t, a.status == http.StatusOK || a.status == http.StatusConflict, "%s: %d %.200s", a.request,
					a.status, a.raw)
			default:
				a.failsWith(row.responses[n])
				equal(t, a.request+", which is refused: status", text(s.instance(id), "status"), status)
				equal(t, a.request+", which is refused: desired_state", text(s.instance(id), "desired_state"),
					row.desired)
			}
			if status != "destroyed" && text(s.instance(id), "status") != "destroying" {
				s.delete(path).ok()
			}
			s.setInstance(id, object{"status": "destroyed"})
		}
	}
}

// A pending start cannot be started again, and a pending stop cannot be stopped again.
func TestStateRepeatedActions(t *testing.T) {
	s := start(t)
	id := text(s.running(nil), "id")
	s.action(id, "start").failsWith("conflict")
	s.action(id, "stop").ok()
	s.action(id, "stop").failsWith("conflict")
	s.waitForStatus(id, "stopped")
	s.action(id, "stop").failsWith("conflict")
	s.action(id, "start").ok()
	s.action(id, "start").failsWith("conflict")
	s.waitForStatus(id, "running")
	check(t, !strings.Contains(text(s.instance(id), "stop_reason"), "low"), "stop_reason of a running server")

	// An instance that is stopped during its boot never runs.
	booting := text(s.rent(nil), "id")
	s.action(booting, "stop").ok()
	s.waitForStatus(booting, "stopped")
	s.advance(600)
	equal(t, "status of one that was stopped during its boot", text(s.instance(booting), "status"), "stopped")
}
