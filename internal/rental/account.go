package rental

import (
	"context"
	"net/http"
	"time"
)

// User is the account that the key belongs to.
type User struct {
	ID             string    `json:"id"`
	Email          *string   `json:"email"` // nil when none is set
	Name           string    `json:"name"`
	CreatedAt      time.Time `json:"created_at"`
	TwoFactor      *bool     `json:"two_factor"` // nil when the service does not say
	EmailVerified  *bool     `json:"email_verified"`
	TelegramLinked *bool     `json:"telegram_linked"`
}

func (u User) identity() string { return u.ID }

// GetMe returns the profile of the key's owner. Scope: user:read.
func (c *Client) GetMe(ctx context.Context) (User, error) {
	return fetch[User](ctx, c, request{method: http.MethodGet, path: []string{"me"}, scope: ScopeUserRead})
}
