package rental

import (
	"context"
	"fmt"
	"net/http"
)

// DeviceCode starts a login from a terminal.
type DeviceCode struct {
	DeviceCode              string `json:"device_code"` // the client's secret; never shown to the user
	UserCode                string `json:"user_code"`   // what the user confirms in the browser
	VerificationURI         string `json:"verification_uri"`
	VerificationURIComplete string `json:"verification_uri_complete"` // with the code filled in
	ExpiresIn               int64  `json:"expires_in"`                // seconds
	Interval                int64  `json:"interval"`                  // least pause between polls, seconds
}

// String leaves the device code out.
func (d DeviceCode) String() string {
	return fmt.Sprintf("rental.DeviceCode{%s, %s}", d.UserCode, d.VerificationURI)
}

// GoString is String: %#v must not print the device code either.
func (d DeviceCode) GoString() string { return d.String() }

func (d DeviceCode) secret() string { return d.DeviceCode }

// DeviceToken is the key that a login was granted. It is issued once.
type DeviceToken struct {
	APIKey string          `json:"api_key"` // secret
	KeyID  string          `json:"key_id"`
	User   DeviceTokenUser `json:"user"`
}

// DeviceTokenUser is who granted the login.
type DeviceTokenUser struct {
	Email string `json:"email"`
}

// String leaves the key out.
func (d DeviceToken) String() string { return fmt.Sprintf("rental.DeviceToken{%s}", d.KeyID) }

// GoString is String: %#v must not print the key either.
func (d DeviceToken) GoString() string { return d.String() }

func (d DeviceToken) secret() string { return d.APIKey }

// CreateDeviceCode begins a login. Public. A repeated request is harmless: a code that nobody confirms expires. clientName, up to 60 characters, is what the approval page shows; empty: not sent.
func (c *Client) CreateDeviceCode(ctx context.Context, clientName string) (DeviceCode, error) {
	body := struct {
		ClientName string `json:"client_name,omitempty"`
	}{clientName}
	return fetch[DeviceCode](ctx, c, request{method: http.MethodPost, path: []string{"auth", "device"}, access: public, body: body})
}

// CreateDeviceToken asks once whether the login was granted. Public. Until then HasCode says why not: CodeAuthorizationPending,
// CodeSlowDown (poll less often), CodeAccessDenied, CodeExpiredToken. The key is issued once: IsOutcomeUnknown means that it may be lost.
func (c *Client) CreateDeviceToken(ctx context.Context, deviceCode string) (DeviceToken, error) {
	body := struct {
		DeviceCode string `json:"device_code"`
	}{deviceCode}
	return fetch[DeviceToken](ctx, c, request{
		method: http.MethodPost, path: []string{"auth", "device", "token"}, access: public, body: body, repeat: onlyOnce,
		secrets: []string{deviceCode},
	})
}
