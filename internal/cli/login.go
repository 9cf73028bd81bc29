package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/credentials"
	"github.com/gpurent/terraform-provider-gpurent/internal/provider"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

const (
	// maxClientName is the maximum length of client_name in the API, in characters.
	maxClientName = 60
	// revokeTimeout limits the revocation of a key that login cannot save.
	revokeTimeout = 15 * time.Second
)

var errCancelled = errors.New("login was cancelled")

func loginCommand() command {
	return command{
		name:  "login",
		short: "Get an API key by approving the login in a browser",
		long: "Gets an API key for this machine. It shows an address and a code, waits until you approve the code at that " +
			"address in any browser, and saves the key in the credentials file, which the provider reads. " +
			"If the file already has a key of this service, it requires --replace.\n\n" +
			"The address of the service is --base-url, else " + provider.EnvBaseURL + ", else that of the last login.",
		example: program + " login --base-url https://rent.example/api/v1",
		page:    "authentication.md#log-in",
		prepare: func(flags *flag.FlagSet) runFunc {
			baseURL := flags.String("base-url", "", "`URL` of the service, ending in /api/v1")
			name := flags.String("client-name", "",
				"`NAME` of the key, up to 60 characters (default \""+program+" on HOSTNAME\")")
			replace := flags.Bool("replace", false, "replace and revoke the key that the file has of this service")
			noBrowser := flags.Bool("no-browser", false, "show the address without opening a browser")
			return func(ctx context.Context, _ []string, stdout, stderr io.Writer) error {
				found, err := findTarget(*baseURL)
				if err != nil {
					return err
				}
				l := &login{target: found, screen: newScreen(stdout, stderr), replace: *replace}
				l.clientName = clientName(*name, os.Hostname)
				if l.screen.terminal && !*noBrowser && hasBrowser() {
					l.browse = openBrowser
				}
				return l.run(ctx)
			}
		},
	}
}

// clientName returns the name of the key for the approval page and the console.
func clientName(given string, hostname func() (string, error)) string {
	name := rental.Printable(given, maxTextLength)
	if name == "" {
		name = program
		if host, err := hostname(); err == nil && host != "" {
			name += " on " + rental.Printable(host, maxTextLength)
		}
	}
	runes := []rune(name)
	return string(runes[:min(len(runes), maxClientName)])
}

// login is one run of the login command.
type login struct {
	target
	clientName string
	screen     *screen
	// browse opens an address in the browser of the user; nil to open none.
	browse func(ctx context.Context, address string) error
	// replace permits replacing the key of an earlier login.
	replace bool
}

// run gets a key and saves it. It requests no key if the credentials file is unusable or has one that must stay.
func (l *login) run(ctx context.Context) error {
	if err := credentials.Check(ctx, l.file); err != nil {
		return cancelledOr(ctx, err)
	}
	saved, err := credentials.Load(l.file)
	if err != nil {
		return err
	}
	if saved.Key(l.baseURL) != "" && !l.replace {
		return fmt.Errorf("%s already has a key of %s: use --replace to replace and revoke it", l.file, l.baseURL)
	}
	client, err := l.connect("")
	if err != nil {
		return err
	}
	defer client.CloseIdleConnections()
	code, err := client.CreateDeviceCode(ctx, l.clientName)
	if err != nil {
		return cancelledOr(ctx, fmt.Errorf("cannot start the login: %w", err))
	}
	token, err := l.wait(ctx, client, code)
	if err != nil {
		return err
	}
	return l.save(ctx, token)
}

// wait shows the address and the code, and returns the key after the user approves the login.
func (l *login) wait(ctx context.Context, client *rental.Client, code rental.DeviceCode) (rental.DeviceToken, error) {
	shown, err := newPrompt(code, l.baseURL)
	if err != nil {
		return rental.DeviceToken{}, err
	}
	expires := time.Now().Add(shown.lifetime)
	l.screen.showPrompt(shown)
	if address := shown.browserAddress(); l.browse != nil && address != "" {
		_ = l.browse(ctx, address) //nolint:errcheck // the address is on the screen
	}
	a := &approval{client: client, deviceCode: code.DeviceCode, clientName: l.clientName, interval: shown.interval}
	return a.wait(ctx, expires)
}

// save writes the key to the credentials file. If that fails, it revokes the key.
func (l *login) save(ctx context.Context, token rental.DeviceToken) error {
	key := credentials.Credential{APIKey: token.APIKey, KeyID: token.KeyID}
	if ctx.Err() != nil {
		return l.revokeUnsaved(ctx, key, errCancelled)
	}
	if _, err := l.connect(key.APIKey); err != nil {
		return l.revokeUnsaved(ctx, key, fmt.Errorf("the service issued a key that cannot be used: %w", err))
	}
	replaced, err := credentials.Save(context.WithoutCancel(ctx), l.file, l.baseURL, key)
	if err != nil {
		return l.revokeUnsaved(ctx, key, fmt.Errorf("cannot save the key: %w", err))
	}
	account := ""
	if email := rental.Printable(token.User.Email, maxTextLength); email != "" {
		account = " as " + email
	}
	l.screen.print("Logged in to %s%s. The key is in %s.", l.baseURL, account, l.file)
	for _, old := range replaced {
		if old.APIKey == key.APIKey {
			continue
		}
		if _, err := l.revoke(ctx, old); err != nil {
			l.screen.warn("The service did not confirm that %s of the previous login is revoked (%v). To revoke it, %s.",
				keyName(old), err, revokeElsewhere)
		}
	}
	l.warnAboutEnvironment()
	return nil
}

// revokeUnsaved revokes a key that was not saved. It returns cause with the outcome of the revocation.
func (l *login) revokeUnsaved(ctx context.Context, key credentials.Credential, cause error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), revokeTimeout)
	defer cancel()
	outcome, err := l.revoke(ctx, key)
	if err != nil {
		return fmt.Errorf("%w; %s was issued, and the service did not confirm that it is revoked (%w). To revoke it, "+
			"log in again, %s", cause, keyName(key), err, revokeElsewhere)
	}
	return fmt.Errorf("%w; a key was issued: %s", cause, outcome)
}

// warnAboutEnvironment warns about environment variables that take precedence over this login.
func (l *login) warnAboutEnvironment() {
	if provider.Getenv(provider.EnvAPIKey) != "" {
		l.screen.warn("%s is set: the provider does not use this login.", provider.EnvAPIKey)
	}
	if address := provider.Getenv(provider.EnvBaseURL); address != "" && !credentials.Same(address, l.baseURL) {
		l.screen.warn("%s is set to another address: the provider uses that service, not the one of this login.",
			provider.EnvBaseURL)
	}
}

// cancelledOr returns errCancelled after the user has cancelled the login, else err.
func cancelledOr(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return errCancelled
	}
	return err
}
