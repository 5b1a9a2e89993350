import approvals.rows
import django.db.models.deletion
from django.db import migrations, models

STEPS = [("remind", "Remind"), ("escalate", "Escalate")]


class Migration(migrations.Migration):
    dependencies = [("approvals", "0020_watchers")]

    operations = [
        migrations.CreateModel(
            name="DueStep",
            fields=[
                (
                    "id",
                    models.UUIDField(default=approvals.rows.uuid7, editable=False, primary_key=True, serialize=False),
                ),
                ("created_at", models.DateTimeField(db_default=approvals.rows.Now(), editable=False)),
                ("step", models.CharField(choices=STEPS, max_length=8)),
                ("number", models.PositiveIntegerField()),
                ("due_at", models.DateTimeField()),
                ("done_at", models.DateTimeField(null=True)),
                ("told", models.JSONField(default=list)),
                ("tries", models.PositiveIntegerField(default=0)),
                (
                    "approval",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="due_steps", to="approvals.approval"
                    ),
                ),
                (
                    "workspace",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="approvals.workspace"
                    ),
                ),
            ],
        ),
        migrations.AddConstraint(
            "duestep", models.UniqueConstraint(fields=("approval", "step", "number"), name="one_due_of_a_number")
        ),
        migrations.AddIndex(
            "duestep",
            models.Index(
                condition=models.Q(("done_at__isnull", True)), fields=["due_at"], name="due_and_not_done"
            ),
        ),
    ]
