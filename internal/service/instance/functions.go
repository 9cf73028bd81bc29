package instance

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpurent/terraform-provider-gpurent/internal/tfinstance"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// NewSSHConfig returns the function ssh_config.
func NewSSHConfig() function.Function {
	return tfkit.Function{
		Name: "ssh_config",
		Signature: function.Definition{
			Summary: "Returns a block for an SSH configuration file.",
			MarkdownDescription: "Returns a block for an SSH configuration file: the lines `Host`, `HostName`, `Port` and " +
				"`User`, each with a line break. With the block, `ssh ALIAS` opens the instance.\n\nFor an instance without an " +
				"SSH address, because it is stopped, starting or created from a template without SSH, the function returns a " +
				"comment of one line. The blocks of many instances can therefore be joined to one file.",
			Parameters: []function.Parameter{
				function.StringParameter{
					Name: "host_alias",
					MarkdownDescription: "Host alias. Must consist of letters, digits, `.`, `_` and `-`, and must not begin " +
						"with `-`. The name of an instance can contain other characters.",
				},
				function.ObjectParameter{
					Name: "ssh", AttributeTypes: tfinstance.SSHType, AllowNullValue: true,
					MarkdownDescription: "The attribute `ssh` of an instance, or null.",
				},
			},
			Return: function.StringReturn{},
		},
		Call: sshConfig,
	}
}

func sshConfig(ctx context.Context, arguments function.ArgumentsData) (any, *function.FuncError) {
	var alias string
	var ssh types.Object
	if err := arguments.Get(ctx, &alias, &ssh); err != nil {
		return nil, err
	}
	if err := tfinstance.CheckAlias(alias); err != nil {
		return nil, function.NewArgumentFuncError(0, err.Error())
	}
	if ssh.IsNull() || ssh.Equal(tfinstance.SSHValue(nil)) {
		return tfinstance.NoSSHConfig(alias), nil
	}
	login := ssh.Attributes()
	block, err := tfinstance.SSHConfigBlock(
		alias, tfkit.StringOf(login["host"]), tfkit.Int64Of(login["port"]), tfkit.StringOf(login["user"]))
	if err != nil {
		return nil, function.NewArgumentFuncError(1, "the login is not usable: "+err.Error())
	}
	return block, nil
}
