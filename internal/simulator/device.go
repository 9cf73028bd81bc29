package simulator

import (
	"crypto/rand"
	"slices"
	"strings"
	"time"
)

const (
	deviceLifetime = 10 * time.Minute
	devicePace     = 5 * time.Second
	// userCodeAlphabet has no letter that reads like another, and no vowel that makes a word.
	userCodeAlphabet = "BCDFGHJKLMNPQRSTVWXZ"
	userCodeHalf     = 4
)

// deviceState is how far a login has come.
type deviceState int

const (
	deviceWaiting deviceState = iota
	deviceApproved
	deviceDenied
	deviceUsed
)

// deviceLogin is one terminal that waits for its key.
type deviceLogin struct {
	DeviceCode string
	UserCode   string
	ClientName string
	ExpiresAt  time.Time
	// interval is the pause between polls that the client must keep now.
	Interval time.Duration
	PolledAt time.Time
	State    deviceState
}

func (d *deviceLogin) open(at time.Time) bool {
	return d.State == deviceWaiting && at.Before(d.ExpiresAt)
}

// beginLogin forgets the logins that are over and adds one.
func (w *world) beginLogin(clientName string) *deviceLogin {
	w.devices = slices.DeleteFunc(w.devices, func(d *deviceLogin) bool { return !w.at.Before(d.ExpiresAt) })
	d := &deviceLogin{
		DeviceCode: (rand.Text() + rand.Text())[:secretBodyLen], ClientName: clientName,
		ExpiresAt: w.at.Add(deviceLifetime), Interval: devicePace,
	}
	for d.UserCode == "" || w.findUserCode(d.UserCode) != nil {
		d.UserCode = w.newUserCode()
	}
	w.devices = append(w.devices, d)
	return d
}

func (w *world) newUserCode() string {
	var b strings.Builder
	for n := range 2 * userCodeHalf {
		if n == userCodeHalf {
			b.WriteByte('-')
		}
		b.WriteByte(userCodeAlphabet[w.ids.IntN(len(userCodeAlphabet))])
	}
	return b.String()
}

// findUserCode accepts a code as people type it: in any case, with or without the dash.
func (w *world) findUserCode(code string) *deviceLogin {
	plain := func(s string) string {
		return strings.ToUpper(strings.NewReplacer("-", "", " ", "").Replace(s))
	}
	for _, d := range w.devices {
		if plain(d.UserCode) == plain(code) {
			return d
		}
	}
	return nil
}

// openLogin returns the login that waits for a decision under a code.
func (w *world) openLogin(userCode string) (*deviceLogin, error) {
	d := w.findUserCode(userCode)
	if d == nil {
		return nil, notFound("Код не найден", "There is no such code")
	}
	if !d.open(w.at) {
		return nil, conflict("Код истёк или уже использован", "The code has expired or was already used")
	}
	return d, nil
}

// decide is what the approval page does.
func (w *world) decide(userCode string, approve bool) error {
	d, err := w.openLogin(userCode)
	if err != nil {
		return err
	}
	d.State = deviceDenied
	if approve {
		d.State = deviceApproved
	}
	return nil
}

// poll answers a client that asks for its key: nil means that the key may be issued, once.
func (w *world) poll(deviceCode string) (*deviceLogin, error) {
	n := slices.IndexFunc(w.devices, func(d *deviceLogin) bool { return d.DeviceCode == deviceCode })
	if n < 0 {
		return nil, fail(codeExpiredToken)
	}
	d := w.devices[n]
	switch {
	case d.State == deviceUsed || !w.at.Before(d.ExpiresAt):
		return nil, fail(codeExpiredToken)
	case d.State == deviceDenied:
		return nil, fail(codeAccessDenied)
	case d.State == deviceApproved:
		d.State = deviceUsed
		return d, nil
	}
	early := !d.PolledAt.IsZero() && w.at.Before(d.PolledAt.Add(d.Interval))
	d.PolledAt = w.at
	if early {
		d.Interval += devicePace
		return nil, fail(codeSlowDown)
	}
	return nil, fail(codeAuthorizationPending)
}

type deviceCodeView struct {
	DeviceCode              string `json:"device_code"`
	UserCode                string `json:"user_code"`
	VerificationURI         string `json:"verification_uri"`
	VerificationURIComplete string `json:"verification_uri_complete"`
	ExpiresIn               int64  `json:"expires_in"`
	Interval                int64  `json:"interval"`
}

type deviceTokenView struct {
	APIKey string          `json:"api_key"`
	KeyID  string          `json:"key_id"`
	User   deviceTokenUser `json:"user"`
}

type deviceTokenUser struct {
	Email string `json:"email"`
}
