package cli

import (
	"errors"
	"fmt"

	"github.com/gpurent/terraform-provider-gpurent/internal/credentials"
	"github.com/gpurent/terraform-provider-gpurent/internal/provider"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// connectAccount returns a client for the account of the user, without a key if there is none. The address is that of
// the environment, else of the current login, and the key that of the environment, else of the login at the address. As
// in the provider, a key of the environment is never sent to the address of the login.
func connectAccount() (*rental.Client, error) {
	address := provider.Getenv(provider.EnvBaseURL)
	key := provider.Getenv(provider.EnvAPIKey)
	source := provider.EnvAPIKey
	switch {
	case key != "" && address == "":
		return nil, usageError("the address of the service for the key in %s is missing: set %s", provider.EnvAPIKey,
			provider.EnvBaseURL)
	case key == "":
		found, err := findTarget("")
		if err != nil {
			return nil, err
		}
		file, err := credentials.Load(found.file)
		if err != nil {
			return nil, err
		}
		address, key, source = found.baseURL, file.Key(found.baseURL), found.file
	}
	client, err := rental.New(rental.Config{
		BaseURL: address, APIKey: key, KeySource: source, UserAgent: program + "/" + fullVersion(),
	})
	if err != nil {
		return nil, usageError("the address from %s, or the key from %s, cannot be used: %w",
			provider.EnvBaseURL, source, err)
	}
	return client, nil
}

// keyAdvice is what to do about an API key that the service rejects or refuses; empty for another error.
func keyAdvice(err error) string {
	apiErr, _ := errors.AsType[*rental.Error](err)
	switch {
	case rental.IsForbidden(err):
		return fmt.Sprintf(". The API key from %s needs the scope %s", apiErr.KeySource, apiErr.Scope)
	case rental.IsUnauthorized(err):
		return fmt.Sprintf(". The API rejected the key from %s: replace it, or log in with \"%s login --replace\"",
			apiErr.KeySource, program)
	}
	return ""
}
