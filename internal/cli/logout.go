package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"

	"github.com/gpurent/terraform-provider-gpurent/internal/credentials"
	"github.com/gpurent/terraform-provider-gpurent/internal/provider"
)

func logoutCommand() command {
	return command{
		name:    "logout",
		short:   "Revoke the API key of a login and remove it",
		example: program + " logout",
		page:    "authentication.md#log-in",
		prepare: func(flags *flag.FlagSet) runFunc {
			baseURL := flags.String("base-url", "", "`URL` of the service (default as for login)")
			return func(ctx context.Context, _ []string, stdout, stderr io.Writer) error {
				screen := newScreen(stdout, stderr)
				found, err := findTarget(*baseURL)
				if errors.Is(err, errNoAddress) && noLogin() {
					screen.print("Not logged in.")
					return nil
				}
				if err != nil {
					return err
				}
				return found.logout(ctx, screen)
			}
		},
	}
}

// noLogin reports whether the credentials file has no login.
func noLogin() bool {
	path, err := credentials.Path()
	if err != nil {
		return false
	}
	file, err := credentials.Load(path)
	return err == nil && len(file.Credentials) == 0
}

// logout revokes the key before it removes the key from the file. If the revocation fails, the file still has the key.
func (s target) logout(ctx context.Context, screen *screen) error {
	file, err := credentials.Load(s.file)
	if err != nil {
		return err
	}
	key, ok := file.Find(s.baseURL)
	if !ok {
		screen.print("Not logged in to %s.", s.baseURL)
		return nil
	}
	outcome, err := s.revoke(ctx, key)
	switch {
	case err != nil && ctx.Err() != nil:
		return errors.New("logout was cancelled, and the login is kept. The key may be revoked already")
	case err != nil:
		return fmt.Errorf("the service did not confirm that %s is revoked, so the login is kept: %w. Run logout again. "+
			"If the key cannot revoke itself, first use another one: %s", keyName(key), err, revokeElsewhere)
	}
	if err := credentials.Forget(context.WithoutCancel(ctx), s.file, s.baseURL, key); err != nil {
		return fmt.Errorf("cannot remove the login from %s: %w. Apart from that, %s", s.file, err, outcome)
	}
	screen.print("Removed the login to %s from %s: %s.", s.baseURL, s.file, outcome)
	if provider.Getenv(provider.EnvAPIKey) != "" {
		screen.warn("%s is set: this logout does not affect that key.", provider.EnvAPIKey)
	}
	return nil
}
