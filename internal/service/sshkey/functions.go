package sshkey

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/function"

	"github.com/gpurent/terraform-provider-gpurent/internal/publickey"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// NewFingerprint returns the function ssh_fingerprint.
func NewFingerprint() function.Function {
	return tfkit.Function{
		Name: "ssh_fingerprint",
		Signature: function.Definition{
			Summary: "Returns the fingerprint of a public SSH key.",
			MarkdownDescription: "Returns the SHA256 fingerprint of a public SSH key as in the output of `ssh-keygen -l` and " +
				"in `gpurent_ssh_key.fingerprint`, for example `" + exampleFingerprint + "`. White " +
				"space and the comment do not change it.\n\n" +
				"A private key is an error, whose text does not contain the key. Terraform and OpenTofu can add the value of a " +
				"variable to the error unless it is `sensitive`.",
			Parameters: []function.Parameter{
				function.StringParameter{
					Name:                "public_key",
					MarkdownDescription: "Line of a public key file, such as `ssh-ed25519 AAAA… comment`.",
				},
			},
			Return: function.StringReturn{},
		},
		Call: func(ctx context.Context, arguments function.ArgumentsData) (any, *function.FuncError) {
			var line string
			if err := arguments.Get(ctx, &line); err != nil {
				return nil, err
			}
			key, err := publickey.Parse(line)
			if err != nil {
				return nil, function.NewArgumentFuncError(0, err.Error())
			}
			return key.Fingerprint, nil
		},
	}
}
