import approvals.rows
import django.db.models.deletion
from django.db import migrations, models

from approvals.rows import same_workspace

PLACES = [("node", "Node"), ("steer", "Steer"), ("finish", "Finish")]
STATUSES = ["open", "passed", "answered", "rejected", "expired", "cancelled"]
KINDS = [("input", "Input"), ("step", "Step"), ("result", "Result"), ("decision", "Decision")]


class Migration(migrations.Migration):
    dependencies = [("runtime", "0005_unknowns")]

    operations = [
        migrations.AddField(
            "call",
            "kind",
            models.CharField(choices=[("call", "Call"), ("question", "Question")], default="call", max_length=8),
        ),
        migrations.AlterField("checkpoint", "kind", models.CharField(choices=KINDS, max_length=8)),
        migrations.CreateModel(
            name="Breakpoint",
            fields=[
                ("id", models.UUIDField(default=approvals.rows.uuid7, editable=False, primary_key=True, serialize=False)),
                ("created_at", models.DateTimeField(db_default=approvals.rows.Now(), editable=False)),
                ("seq", models.PositiveBigIntegerField()),
                ("place", models.CharField(choices=PLACES, max_length=8)),
                ("node", models.CharField(blank=True, max_length=120)),
                ("goto", models.CharField(blank=True, max_length=120)),
                (
                    "status",
                    models.CharField(choices=[(s, s.capitalize()) for s in STATUSES], default="open", max_length=12),
                ),
                ("approval", models.CharField(max_length=40)),
                ("digest", models.CharField(blank=True, max_length=64)),
                ("consumed_seq", models.PositiveBigIntegerField(null=True)),
                ("ended_at", models.DateTimeField(null=True)),
                (
                    "run",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="breakpoints",
                        to="runtime.run",
                    ),
                ),
                (
                    "workspace",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="approvals.workspace"
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["run", "seq"], name="breakpoints_of_a_place"),
                    models.Index(
                        condition=models.Q(("status", "open")), fields=["created_at"], name="breakpoints_open"
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("consumed_seq", None)),
                        fields=("run",),
                        name="one_breakpoint_of_a_run_at_a_time",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("status__in", STATUSES)), name="breakpoint_status_is_known"
                    ),
                ],
            },
        ),
        migrations.RunSQL(same_workspace("runtime_breakpoint", "run_id", "runtime_run")),
    ]
