package tfinstance

import (
	"cmp"
	"context"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/gpurent/terraform-provider-gpurent/internal/lifecycle"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// Read records that an object was read with its instances: one, or the members of a fleet. use is lifecycle.Read, or
// lifecycle.Imported for an object that was just imported. A second object of a state is only a warning, because a read
// must not fail for a get of Pulumi beside the resource that manages the instance. It is the only diagnostic for a
// tainted object, of which Terraform passes nothing to the plan of its replacement.
func Read(
	meta *tfkit.Meta, object tfkit.Object, fleetID string, use lifecycle.Use, diags *diag.Diagnostics, ids ...string,
) {
	self := lifecycle.Object{Token: object.Token, Fleet: fleetID, Use: use}
	for _, id := range ids {
		if other, ok := meta.Owners.Read(id, self); !ok {
			tfkit.AddWarning(diags, tfkit.Textf("Instance %s may be in the state twice", id),
				"This run has read "+objectText(other)+" with the same instance. If both manage it and one of the two is "+
					"tainted, an apply destroys the instance of the other. Run `terraform state rm ADDRESS` for the one that must "+
					"not have it, which keeps the instance.")
			return
		}
	}
}

// Claim records that an object with instances is planned. It reports an error for the first one that another object
// has, too.
func Claim(meta *tfkit.Meta, object tfkit.Object, fleetID string, diags *diag.Diagnostics, ids ...string) {
	if object.Token != "" { // otherwise nothing was read since an apply was interrupted
		claim(meta, object, fleetID, diags, ids, false)
	}
}

// ClaimDestroyed is Claim for a destruction, at plan and at apply. It returns the instances that a creation of the same
// apply has taken: the destruction keeps them.
func ClaimDestroyed(
	meta *tfkit.Meta, object tfkit.Object, fleetID string, diags *diag.Diagnostics, ids ...string,
) (kept []string) {
	return claim(meta, object, fleetID, diags, ids, true)
}

func claim(
	meta *tfkit.Meta, object tfkit.Object, fleetID string, diags *diag.Diagnostics, ids []string, destroys bool,
) (kept []string) {
	if meta == nil {
		return nil
	}
	self := lifecycle.Object{Token: object.Token, Fleet: fleetID}
	for _, id := range ids {
		switch other, ok := meta.Owners.Claim(id, self); {
		case ok:
		case destroys && other.Use == lifecycle.Taken:
			kept = append(kept, id)
		default:
			AddTwoObjects(diags, id, self, other)
			return kept
		}
	}
	return kept
}

// AddTwoObjects reports that two objects of the state, one and other, have the same instance. The message appears with
// the address of one.
func AddTwoObjects(diags *diag.Diagnostics, id string, one, other lifecycle.Object) {
	text := "This resource and " + objectText(other) + " have the same instance. Nothing was changed. Run `terraform " +
		"state rm ADDRESS` for the one that must not have it, which keeps the instance. "
	resourceType, key := "gpurent_instance", id
	if one.Fleet != "" {
		resourceType, key = "gpurent_fleet", one.Fleet
		text += "For a fleet, that removes all its members from the state. "
	}
	if block, ok := tfkit.ImportBlock(resourceType, key); ok && one.Fleet == other.Fleet {
		text += tfkit.Textf("`terraform state list -id=%s` prints both addresses. If it prints one, state rm removes both "+
			"objects: then add this block with the address, and plan again:\n\n", tfkit.Text(key)) + block
	}
	tfkit.AddAttributeError(diags, path.Root("id"), tfkit.Textf("Instance %s is in the state twice", id), text)
}

func objectText(other lifecycle.Object) tfkit.Text {
	if other.Fleet != "" {
		return tfkit.Textf("the fleet %q", other.Fleet)
	}
	return "another gpurent_instance"
}

// Unclaimed returns the active instances whose names match and that neither the planned object nor another one of this
// run has, newest first: an interrupted apply may have rented them. own are the ids of the planned object. With an
// error, the API has not returned all.
func Unclaimed(
	ctx context.Context, meta *tfkit.Meta, matches func(name string) bool, own ...string,
) (found []rental.Instance, err error) {
	active, err := meta.Cache.Instances.Recent(ctx)
	if active == nil {
		return nil, err
	}
	for _, inst := range active.Items {
		has := slices.Contains(own, inst.ID) || meta.Owners.Has(inst.ID)
		if matches(inst.NameString()) && !inst.Destroyed() && !has {
			found = append(found, inst)
		}
	}
	slices.SortFunc(found, func(a, b rental.Instance) int {
		return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	return found, err
}

// UnclaimedText lists the instances that Unclaimed has found, with the names of members of a fleet. The name of a
// single instance is the value of an argument, which may be sensitive.
func UnclaimedText(found []rental.Instance, members bool) tfkit.Text {
	return "This run has not read these active instances from the state:" +
		tfkit.Lines(found, func(inst rental.Instance) tfkit.Text {
			var name tfkit.Text
			if members {
				name = tfkit.Textf(" (%s)", inst.NameString())
			}
			return tfkit.Textf("%s%s, %s, %s, %s", inst.ID, name, inst.Status, CreatedText(inst),
				tfkit.PerHour(inst.BurnKopH()))
		}) + "\n"
}

// AddKeptForOther reports the instances that a change or a destruction left alone, because another object has them; no
// ids for nothing to report.
func AddKeptForOther(diags *diag.Diagnostics, ids ...string) {
	if len(ids) == 0 {
		return
	}
	tfkit.AddWarning(diags, "Instances were kept for another resource",
		tfkit.Textf("Another resource of this run has %s. They were not changed or destroyed, and do not belong to this "+
			"resource any more. If you rename a resource, add a moved block. With create_before_destroy, change the key with "+
			"each replacement.", ids))
}

// CreatedText describes when an instance was created: "created at 2026-01-02T15:04:05Z".
func CreatedText(inst rental.Instance) tfkit.Text {
	if inst.CreatedAt.IsZero() {
		return "created at an unknown time"
	}
	return tfkit.Textf("created at %s", tfkit.Time(inst.CreatedAt).ValueString())
}
