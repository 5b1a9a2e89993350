import approvals.rows
import django.db.models.deletion
from django.db import migrations, models

from approvals.rows import parent_key, same_workspace, write_once

KINDS = [
    ("call", "Call"),
    ("breakpoint", "Breakpoint"),
    ("question", "Question"),
    ("budget", "Budget"),
    ("outcome", "Outcome"),
    ("grant", "Grant"),
]


def key():
    return models.UUIDField(default=approvals.rows.uuid7, editable=False, primary_key=True, serialize=False)


def created():
    return models.DateTimeField(db_default=approvals.rows.Now(), editable=False)


def parent(to, **more):
    return models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to=to, **more)


class Migration(migrations.Migration):
    dependencies = [("approvals", "0014_retract")]

    operations = [
        migrations.AlterField("approval", "kind", models.CharField(choices=KINDS, default="call", max_length=12)),
        migrations.RemoveConstraint("approval", "approval_kind_is_known"),
        migrations.AddConstraint(
            "approval",
            models.CheckConstraint(
                condition=models.Q(("kind__in", [name for name, _ in KINDS])), name="approval_kind_is_known"
            ),
        ),
        migrations.CreateModel(
            name="Grant",
            fields=[
                ("id", key()),
                ("created_at", created()),
                ("tool", models.CharField(max_length=200)),
                ("agent", models.CharField(max_length=120)),
                ("definition_digest", models.CharField(max_length=64)),
                ("digest", models.CharField(max_length=64)),
                ("until", models.DateTimeField()),
                ("ended_at", models.DateTimeField(null=True)),
                ("approval", parent("approvals.approval", related_name="grants")),
                ("workspace", parent("approvals.workspace", related_name="+")),
            ],
            options={"indexes": [models.Index(fields=["workspace", "tool", "until"], name="grants_of_a_tool")]},
        ),
        migrations.CreateModel(
            name="GrantUse",
            fields=[
                ("id", key()),
                ("created_at", created()),
                ("number", models.PositiveIntegerField()),
                ("subject", models.CharField(max_length=80)),
                ("amount", models.BigIntegerField()),
                ("mac", models.BinaryField()),
                ("grant", parent("approvals.grant", related_name="uses")),
                ("workspace", parent("approvals.workspace", related_name="+")),
            ],
        ),
        migrations.AddConstraint(
            "grantuse", models.UniqueConstraint(fields=("grant", "number"), name="one_use_of_a_number")
        ),
        migrations.AddConstraint(
            "grantuse", models.UniqueConstraint(fields=("grant", "subject"), name="one_use_for_a_subject")
        ),
        migrations.RunSQL(parent_key("approvals_grant"), "-- nothing to undo"),
        migrations.RunSQL(
            same_workspace("approvals_grant", "approval_id", "approvals_approval"), "-- nothing to undo"
        ),
        migrations.RunSQL(same_workspace("approvals_grantuse", "grant_id", "approvals_grant"), "-- nothing to undo"),
        migrations.RunSQL(write_once("approvals_grantuse"), "-- nothing to undo"),
    ]
