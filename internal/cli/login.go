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
	// maxClientName is what the service takes, in characters.
	maxClientName = 60
	// farewell is how long the revocation of a key may take that nobody will have.
	farewell = 15 * time.Second
)

var errCancelled = errors.New("login was cancelled")

func loginCommand() command {
	return command{
		name:  "login",
		short: "Get an API key, by approving it in a browser",
		long: "Gets an API key for this machine: shows an address and a code, waits until you have approved the code at that address in any browser, and keeps the key in " +
			"the credentials file, where the provider finds it. A key from an earlier login to the same service is replaced, and revoked. " +
			"If that login is of another account, you are asked before; without a terminal, --replace answers.\n\n" +
			"The service is the one of --base-url, else of " + provider.EnvBaseURL + ", else the one of the last login.",
		prepare: func(flags *flag.FlagSet) work {
			baseURL := flags.String("base-url", "", "`URL` of the service, which ends with /api/v1")
			name := flags.String("client-name", "", "`NAME` of the key, up to 60 characters (default \""+program+" on \" and the name of this machine)")
			replace := flags.Bool("replace", false, "replace a login of another account without asking")
			noBrowser := flags.Bool("no-browser", false, "open no browser, only show the address")
			return func(ctx context.Context, stdout, stderr io.Writer) error {
				at, err := findSite(*baseURL)
				if err != nil {
					return err
				}
				l := &login{site: at, clientName: clientName(*name, os.Hostname), screen: newScreen(stdout, stderr), replaces: *replace}
				if l.screen.terminal && !*noBrowser && browserHere() {
					l.browse = openBrowser
				}
				if l.screen.terminal && isTerminal(os.Stdin) {
					l.answers = os.Stdin
				}
				return l.run(ctx)
			}
		},
	}
}

// clientName is what the approval page and the console call the key.
func clientName(given string, hostname func() (string, error)) string {
	name := rental.Printable(given, maxShown)
	if name == "" {
		name = program
		if host, err := hostname(); err == nil && host != "" {
			name += " on " + rental.Printable(host, maxShown)
		}
	}
	runes := []rune(name)
	return string(runes[:min(len(runes), maxClientName)])
}

// login is one run of the command.
type login struct {
	site
	clientName string
	screen     *screen
	// browse opens an address in the user's browser; nil where none is wanted.
	browse func(ctx context.Context, address string) error
	// replaces: a login of another account is replaced without asking.
	replaces bool
	// answers is where a person answers questions; nil where nobody can.
	answers io.Reader
}

// run gets a key and keeps it. Where it could not be kept, none is asked for.
func (l *login) run(ctx context.Context) error {
	if err := credentials.Check(ctx, l.file); err != nil {
		return unlessCancelled(ctx, err)
	}
	client, err := l.connect("", 2)
	if err != nil {
		return err
	}
	defer client.CloseIdleConnections()
	code, err := client.CreateDeviceCode(ctx, l.clientName)
	if err != nil {
		return unlessCancelled(ctx, fmt.Errorf("the login could not be begun: %w", err))
	}
	token, err := l.wait(ctx, code)
	if err != nil {
		return err
	}
	return l.keep(ctx, token)
}

// wait shows what is to be approved, and returns when it was.
func (l *login) wait(ctx context.Context, code rental.DeviceCode) (rental.DeviceToken, error) {
	asked, err := newQuestion(code, l.baseURL)
	if err != nil {
		return rental.DeviceToken{}, err
	}
	polls, err := l.connect("", noRetries)
	if err != nil {
		return rental.DeviceToken{}, err
	}
	defer polls.CloseIdleConnections()
	expires := time.Now().Add(asked.lasts)
	l.screen.ask(asked)
	if address := asked.opens(); l.browse != nil && address != "" {
		_ = l.browse(ctx, address) //nolint:errcheck // the address is on the screen
	}
	stop := l.screen.countdown(expires)
	defer stop()
	a := &approval{client: polls, deviceCode: code.DeviceCode, clientName: l.clientName, interval: asked.interval}
	return a.wait(ctx, expires)
}

// keep writes the key down. It does not leave a key behind that nobody knows of.
func (l *login) keep(ctx context.Context, token rental.DeviceToken) error {
	key := credentials.Credential{APIKey: token.APIKey, KeyID: token.KeyID}
	if ctx.Err() != nil {
		return l.withdraw(ctx, key, errCancelled)
	}
	if _, err := l.connect(key.APIKey, noRetries); err != nil {
		return l.withdraw(ctx, key, fmt.Errorf("the service has issued a key that cannot be used: %w", err))
	}
	if err := l.mayReplace(ctx, key.APIKey); err != nil {
		return l.withdraw(ctx, key, err)
	}
	replaced, err := credentials.Save(context.WithoutCancel(ctx), l.file, l.baseURL, key)
	if err != nil {
		return l.withdraw(ctx, key, fmt.Errorf("the key could not be kept: %w", err))
	}
	by := ""
	if email := rental.Printable(token.User.Email, maxShown); email != "" {
		by = " as " + email
	}
	l.screen.say("Logged in to %s%s. The key is in %s.", l.baseURL, by, l.file)
	for _, old := range replaced {
		if old.APIKey != "" && old.APIKey != key.APIKey {
			l.retire(ctx, old)
		}
	}
	l.warnOfEnvironment()
	return nil
}

// withdraw revokes a key that cannot be kept, and says so.
func (l *login) withdraw(ctx context.Context, key credentials.Credential, why error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), farewell)
	defer cancel()
	if err := l.revoke(ctx, key); err != nil {
		return fmt.Errorf("%w; %s was issued and could not be revoked (%w): revoke it in the service's console", why, keyName(key), err)
	}
	return fmt.Errorf("%w; the key that had been issued was revoked", why)
}

// retire revokes the key that another has replaced. One without an id comes from no
// login, but from somebody who may use it elsewhere, too.
func (l *login) retire(ctx context.Context, old credentials.Credential) {
	if old.KeyID == "" {
		l.screen.warn("%s was in the file before. It was not issued by a login and stays valid: revoke it in the service's console unless it is used elsewhere.", keyName(old))
		return
	}
	if err := l.revoke(ctx, old); err != nil {
		l.screen.warn("%s of the login before could not be revoked (%v): revoke it in the service's console.", keyName(old), err)
	}
}

// warnOfEnvironment tells what keeps the provider from using this login.
func (l *login) warnOfEnvironment() {
	if os.Getenv(provider.EnvAPIKey) != "" {
		l.screen.warn("%s is set: the provider does not use this login.", provider.EnvAPIKey)
	}
	if address := os.Getenv(provider.EnvBaseURL); address != "" && !credentials.Same(address, l.baseURL) {
		l.screen.warn("%s is set to another address: the provider uses that service, not the one of this login.", provider.EnvBaseURL)
	}
}

// unlessCancelled is err, unless it comes from the user's wish to stop.
func unlessCancelled(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return errCancelled
	}
	return err
}
