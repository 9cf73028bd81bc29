package instance

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"

	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// sshArgument is the attribute ssh of an instance, with a port of any number: the
// framework's own words for one that is no integer are not for users.
var sshArgument = map[string]attr.Type{"host": types.StringType, "port": types.NumberType, "user": types.StringType, "command": types.StringType}

func newSSHConfig() function.Function {
	return tfkit.Function{
		Name: "ssh_config",
		Meaning: function.Definition{
			Summary: "Writes a block for an SSH configuration file.",
			MarkdownDescription: "Returns a block for an SSH configuration file, with which `ssh trainer` opens the server: the lines `Host trainer`, `HostName`, `Port` and `User`, " +
				"each with a line break.\n\n" +
				"For a server that has no SSH address now, because it is stopped, still starting or of a template without SSH, it returns a comment of one line. So the blocks of many servers can be joined to one file.",
			Parameters: []function.Parameter{
				function.StringParameter{
					Name: "host_alias",
					MarkdownDescription: "The name that `ssh` is to know the server by: letters, digits, `.`, `_` and `-`, and no `-` at the beginning. " +
						"An instance's own name may have other characters, and then is refused.",
				},
				function.ObjectParameter{
					Name: "ssh", AttributeTypes: sshArgument, AllowNullValue: true,
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
	if err := checkAlias(alias); err != nil {
		return nil, function.NewArgumentFuncError(0, err.Error())
	}
	if ssh.IsNull() {
		return noSSHConfig(alias), nil
	}
	var given struct {
		Host    types.String `tfsdk:"host"`
		Port    types.Number `tfsdk:"port"`
		User    types.String `tfsdk:"user"`
		Command types.String `tfsdk:"command"`
	}
	if err := function.FuncErrorFromDiags(ctx, ssh.As(ctx, &given, basetypes.ObjectAsOptions{})); err != nil {
		return nil, err
	}
	login := sshLogin{host: given.Host.ValueString(), port: given.Port.ValueBigFloat(), user: given.User.ValueString()}
	if err := login.check(); err != nil {
		return nil, function.NewArgumentFuncError(1, "the service's answer is not usable: "+err.Error())
	}
	return sshConfigBlock(alias, login), nil
}
