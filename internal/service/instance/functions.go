package instance

import (
	"context"
	"fmt"
	"strconv"

	"github.com/hashicorp/terraform-plugin-framework/attr"
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
				"comment of one line. The blocks of many instances can therefore be joined to one file.\n\n" +
				"An address counts as absent if the object or one of these attributes is null, or if the port is 0, as in a test " +
				"with a plain `mock_provider`.",
			Parameters: []function.Parameter{
				function.StringParameter{
					Name: "host_alias",
					MarkdownDescription: "Alias of the host in the SSH configuration file. Must consist of the letters a to z and A " +
						"to Z, digits, `.`, `_` and `-`, and must not begin with `-`. The name of an instance can contain " +
						"other characters.",
				},
				function.DynamicParameter{
					Name: "ssh", AllowNullValue: true,
					MarkdownDescription: "Attribute `ssh` of an instance, null, or another object with the attributes `host`, " +
						"`port` and `user`. The port is a number or a text. More attributes are allowed.",
				},
			},
			Return: function.StringReturn{},
		},
		Call: sshConfig,
	}
}

func sshConfig(ctx context.Context, arguments function.ArgumentsData) (any, *function.FuncError) {
	var alias string
	var ssh types.Dynamic
	if err := arguments.Get(ctx, &alias, &ssh); err != nil {
		return nil, err
	}
	if err := tfinstance.CheckAlias(alias); err != nil {
		return nil, function.NewArgumentFuncError(0, err.Error())
	}
	if ssh.IsNull() || ssh.IsUnderlyingValueNull() {
		return tfinstance.NoSSHConfig(alias), nil
	}
	login, err := readLogin(ssh.UnderlyingValue())
	host, port, user := login[0], login[1], login[2]
	switch {
	case err != nil:
		return nil, function.NewArgumentFuncError(1, err.Error())
	case host.IsUnknown() || port.IsUnknown() || user.IsUnknown():
		return types.StringUnknown(), nil
	case host.IsNull() || port.IsNull() || user.IsNull() || port.ValueString() == "0": // the port of a mock_provider
		return tfinstance.NoSSHConfig(alias), nil
	}
	number, err := strconv.ParseInt(port.ValueString(), 10, 64)
	if err != nil {
		return nil, function.NewArgumentFuncError(1, fmt.Sprintf("port %.80q is not an integer", port.ValueString()))
	}
	block, err := tfinstance.SSHConfigBlock(alias, host.ValueString(), number, user.ValueString())
	if err != nil {
		return nil, function.NewArgumentFuncError(1, "the login is not usable: "+err.Error())
	}
	return block, nil
}

// readLogin returns the attributes host, port and user of an object or a map, as texts.
func readLogin(ssh attr.Value) (login [3]types.String, err error) {
	var attributes map[string]attr.Value
	switch value := ssh.(type) {
	case types.Object:
		attributes = value.Attributes()
	case types.Map:
		attributes = value.Elements()
	}
	for i, name := range []string{"host", "port", "user"} {
		value, found := attributes[name]
		if dynamic, ok := value.(types.Dynamic); ok && !dynamic.IsNull() && !dynamic.IsUnknown() {
			value = dynamic.UnderlyingValue()
		}
		number, isNumber := value.(types.Number)
		switch {
		case !found:
			return login, fmt.Errorf("it must be an object with the attributes host, port and user, such as the attribute ssh "+
				"of an instance: there is no %s", name)
		case value.IsUnknown():
			login[i] = types.StringUnknown()
		case value.IsNull():
		case isNumber:
			login[i] = types.StringValue(number.ValueBigFloat().Text('f', -1))
		default:
			login[i] = types.StringValue(tfkit.StringOf(value))
		}
	}
	return login, nil
}
