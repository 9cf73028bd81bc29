package rental

import (
	"context"
	"net/http"
)

// DeviceCode is the start of a login from a terminal.
type DeviceCode struct {
	DeviceCode      string `json:"device_code"` // secret; not shown to the user
	UserCode        string `json:"user_code"`   // code that the user confirms in the browser
	VerificationURI string `json:"verification_uri"`
	ExpiresIn       int64  `json:"expires_in"` // seconds
	Interval        int64  `json:"interval"`   // minimum pause between polls, seconds
	NotPrinted
}

func (d DeviceCode) validate() error { return checkSecret(d.DeviceCode) }

// DeviceToken is the API key of an approved login. The API returns it only once.
type DeviceToken struct {
	APIKey string `json:"api_key"` // secret
	KeyID  string `json:"key_id"`
	User   struct {
		Email string `json:"email"`
	} `json:"user"` // who approved the login
	NotPrinted
}

func (d DeviceToken) validate() error { return checkSecret(d.APIKey) }

// CreateDeviceCode starts a login. Public. The approval page shows clientName, which has up to 60 characters and is not
// sent if it is empty. Retries are harmless: a code that is not confirmed expires.
func (c *Client) CreateDeviceCode(ctx context.Context, clientName string) (DeviceCode, error) {
	body := struct {
		ClientName string `json:"client_name,omitempty"`
	}{clientName}
	return fetch[DeviceCode](ctx, c, request{
		method: http.MethodPost, path: []string{"auth", "device"}, auth: authNone, body: body,
	})
}

// CreateDeviceToken returns the API key if the login is approved. Public. Otherwise the code of the error is
// CodeAuthorizationPending, CodeSlowDown (poll less often), CodeAccessDenied or CodeExpiredToken. The API returns the
// key only once: after IsOutcomeUnknown it may be lost.
func (c *Client) CreateDeviceToken(ctx context.Context, deviceCode string) (DeviceToken, error) {
	body := struct {
		DeviceCode string `json:"device_code"`
	}{deviceCode}
	return fetch[DeviceToken](ctx, c, request{
		method: http.MethodPost, path: []string{"auth", "device", "token"}, auth: authNone, body: body,
		idempotency: notIdempotent,
	})
}
