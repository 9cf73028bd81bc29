package simulator

import (
	"cmp"
	"crypto/rand"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/simulator/console"
)

// Durations in real time, which users and their terminals live in, at any speed of the clock.
const (
	deviceLifetime     = 10 * time.Minute
	devicePollInterval = 5 * time.Second
)

const (
	// userCodeAlphabet has no ambiguous letters and no vowels, so codes contain no words.
	userCodeAlphabet = "BCDFGHJKLMNPQRSTVWXZ"
	userCodeHalf     = 4
)

// deviceState is the state of a device login.
type deviceState int

const (
	devicePending deviceState = iota
	deviceApproved
	deviceDenied
	deviceUsed
)

// deviceLogin is a device login.
type deviceLogin struct {
	DeviceCode string
	UserCode   string
	ClientName string
	ExpiresAt  time.Time
	// Interval is the minimum pause between polls, in real time.
	Interval time.Duration
	PolledAt time.Time
	State    deviceState
}

func (d *deviceLogin) pending(at time.Time) bool {
	return d.State == devicePending && at.Before(d.ExpiresAt)
}

// createLogin removes expired logins and adds one.
func (e *engine) createLogin(clientName string) *deviceLogin {
	e.Devices = slices.DeleteFunc(e.Devices, func(d *deviceLogin) bool { return !e.Now.Before(d.ExpiresAt) })
	d := &deviceLogin{
		DeviceCode: (rand.Text() + rand.Text())[:secretBodyLen], ClientName: clientName,
		ExpiresAt: e.Now.Add(e.simulated(deviceLifetime)), Interval: devicePollInterval,
	}
	for d.UserCode == "" || e.findUserCode(d.UserCode) != nil {
		d.UserCode = e.newUserCode()
	}
	e.Devices = append(e.Devices, d)
	return d
}

func (e *engine) newUserCode() string {
	var b strings.Builder
	for n := range 2 * userCodeHalf {
		if n == userCodeHalf {
			b.WriteByte('-')
		}
		b.WriteByte(userCodeAlphabet[e.IDs.rand().IntN(len(userCodeAlphabet))])
	}
	return b.String()
}

// findUserCode ignores case, dashes and spaces.
func (e *engine) findUserCode(code string) *deviceLogin {
	plain := func(s string) string {
		return strings.ToUpper(strings.NewReplacer("-", "", " ", "").Replace(s))
	}
	for _, d := range e.Devices {
		if plain(d.UserCode) == plain(code) {
			return d
		}
	}
	return nil
}

// pendingLogin returns the pending login with a user code.
func (e *engine) pendingLogin(userCode string) (*deviceLogin, error) {
	d := e.findUserCode(userCode)
	if d == nil {
		return nil, notFound(text{"Код не найден", "Code not found"})
	}
	if !d.pending(e.Now) {
		return nil, conflict(text{"Код истёк или уже использован", "The code has expired or was already used"})
	}
	return d, nil
}

// decideLogin approves or denies a pending login.
func (e *engine) decideLogin(userCode string, approve bool) error {
	d, err := e.pendingLogin(userCode)
	if err != nil {
		return err
	}
	d.State = deviceDenied
	if approve {
		d.State = deviceApproved
	}
	return nil
}

// pollLogin returns the login if its key may be issued now, which is once, or the error of the token endpoint.
func (e *engine) pollLogin(deviceCode string) (*deviceLogin, error) {
	n := slices.IndexFunc(e.Devices, func(d *deviceLogin) bool { return d.DeviceCode == deviceCode })
	if n < 0 {
		return nil, newError(codeExpiredToken)
	}
	d := e.Devices[n]
	switch {
	case d.State == deviceUsed || !e.Now.Before(d.ExpiresAt):
		return nil, newError(codeExpiredToken)
	case d.State == deviceDenied:
		return nil, newError(codeAccessDenied)
	case d.State == deviceApproved:
		d.State = deviceUsed
		return d, nil
	}
	early := !d.PolledAt.IsZero() && e.Now.Before(d.PolledAt.Add(e.simulated(d.Interval)))
	d.PolledAt = e.Now
	if early {
		d.Interval = min(d.Interval+devicePollInterval, deviceLifetime)
		return nil, newError(codeSlowDown)
	}
	return nil, newError(codeAuthorizationPending)
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

const defaultClientName = "CLI"

func (c *call) createDeviceCode() (any, error) {
	f := c.fields
	var clientName string
	if name := f.str("client_name", 0, 60); name != nil {
		clientName = *name
	}
	if err := f.finish(); err != nil {
		return nil, err
	}
	d := c.createLogin(cmp.Or(clientName, defaultClientName))
	page := "http://" + c.r.Host + console.DevicePath
	return deviceCodeView{
		DeviceCode: d.DeviceCode, UserCode: d.UserCode, VerificationURI: page,
		VerificationURIComplete: page + "?" + url.Values{"code": {d.UserCode}}.Encode(),
		ExpiresIn:               int64(deviceLifetime / time.Second), Interval: int64(d.Interval / time.Second),
	}, nil
}

func (c *call) createDeviceToken() (any, error) {
	f := c.fields
	f.require("device_code")
	code := f.str("device_code", 1, 200)
	if err := f.finish(); err != nil {
		return nil, err
	}
	d, err := c.pollLogin(*code)
	if err != nil {
		return nil, err
	}
	k, secret := c.issueKey(d.ClientName, sourceCLI, allScopes, nil)
	return deviceTokenView{secret, k.ID, deviceTokenUser{c.Account.Email}}, nil
}
