package rental

import (
	"context"
	"net/http"
	"time"
)

// User is the account of the API key.
type User struct {
	ID             string    `json:"id"`
	Email          *string   `json:"email"` // nil if not set
	Name           string    `json:"name"`
	CreatedAt      time.Time `json:"created_at"`
	TwoFactor      *bool     `json:"two_factor"` // nil if unknown
	EmailVerified  *bool     `json:"email_verified"`
	TelegramLinked *bool     `json:"telegram_linked"`
}

func (u User) identity() string { return u.ID }

// GetMe returns the account of the API key. Scope: user:read.
func (c *Client) GetMe(ctx context.Context) (User, error) {
	return fetch[User](ctx, c, request{method: http.MethodGet, path: []string{"me"}, scope: ScopeUserRead})
}
