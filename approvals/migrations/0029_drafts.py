import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import approvals.rows
from approvals.rows import same_workspace

UNDO = "-- nothing to undo"


def of(to, **more):
    return models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to=to, related_name="+", **more)


class Migration(migrations.Migration):
    """The next version of a policy while somebody writes it."""

    dependencies = [("approvals", "0028_lately")]

    operations = [
        migrations.CreateModel(
            name="Draft",
            fields=[
                (
                    "id",
                    models.UUIDField(default=approvals.rows.uuid7, editable=False, primary_key=True, serialize=False),
                ),
                ("created_at", models.DateTimeField(db_default=approvals.rows.Now(), editable=False)),
                ("number", models.PositiveIntegerField(default=1)),
                ("based_on", models.PositiveIntegerField()),
                ("source", models.BinaryField()),
                ("cases", models.BinaryField()),
                ("changed_at", models.DateTimeField(db_default=approvals.rows.Now())),
                ("ended_at", models.DateTimeField(null=True)),
                ("approval", of("approvals.approval", null=True)),
                ("author", of(settings.AUTH_USER_MODEL)),
                ("workspace", of("approvals.workspace")),
            ],
        ),
        migrations.AddConstraint(
            "draft",
            models.UniqueConstraint(
                condition=models.Q(ended_at__isnull=True),
                fields=["workspace", "author"],
                name="one_open_draft_each",
            ),
        ),
        migrations.RunSQL(same_workspace("approvals_draft", "approval_id", "approvals_approval"), UNDO),
    ]
