package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/gpurent/terraform-provider-gpurent/internal/credentials"
	"github.com/gpurent/terraform-provider-gpurent/internal/provider"
)

func logoutCommand() command {
	return command{
		name:  "logout",
		short: "Revoke the API key of a login, and forget it",
		prepare: func(flags *flag.FlagSet) work {
			baseURL := flags.String("base-url", "", "`URL` of the service (default as for login)")
			return func(ctx context.Context, stdout, stderr io.Writer) error {
				l := &logout{screen: newScreen(stdout, stderr)}
				at, err := findSite(*baseURL)
				if errors.Is(err, errNoAddress) && nobody() {
					l.screen.say("Not logged in.")
					return nil
				}
				if err != nil {
					return err
				}
				l.site = at
				return l.run(ctx)
			}
		},
	}
}

// nobody says whether the credentials file has no login at all.
func nobody() bool {
	path, err := credentials.Path()
	if err != nil {
		return false
	}
	file, err := credentials.Load(path)
	return err == nil && len(file.Credentials) == 0
}

// logout is one run of the command.
type logout struct {
	site
	screen *screen
}

// run revokes the key first: a key that is forgotten but works is worse than one that
// is kept.
func (l *logout) run(ctx context.Context) error {
	file, err := credentials.Load(l.file)
	if err != nil {
		return err
	}
	key, ok := file.Find(l.baseURL)
	if !ok {
		l.screen.say("Not logged in to %s.", l.baseURL)
		return nil
	}
	end := "The key was revoked."
	switch err := l.revoke(ctx, key); {
	case errors.Is(err, errUnknownKey):
		end = "The key was not revoked."
		l.screen.warn("%s was put into the file without its id: revoke it in the service's console.", keyName(key))
	case ctx.Err() != nil:
		return errors.New("logout was cancelled, and the login is kept")
	case err != nil:
		return fmt.Errorf("%s could not be revoked, so the login is kept: %w. Try again; or revoke it in the service's console, and remove its entry from %s by hand",
			keyName(key), err, l.file)
	}
	if err := credentials.Forget(context.WithoutCancel(ctx), l.file, l.baseURL, key); err != nil {
		return fmt.Errorf("the login could not be removed from the file: %w. %s", err, end)
	}
	l.screen.say("Logged out of %s. %s", l.baseURL, end)
	if os.Getenv(provider.EnvAPIKey) != "" {
		l.screen.warn("%s is set: this logout does not affect that key.", provider.EnvAPIKey)
	}
	return nil
}
