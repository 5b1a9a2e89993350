from datetime import timedelta

import approvals.rows
import django.db.models.deletion
from django.db import migrations, models

from approvals.rows import parent_key, same_workspace


def amount(**more):
    return models.PositiveBigIntegerField(**({"default": 0} | more))


def owned(to, **more):
    kept = {"db_constraint": False, "on_delete": django.db.models.deletion.PROTECT, "to": to}
    return models.OneToOneField(**kept, **more)


def row():
    return [
        ("id", models.UUIDField(default=approvals.rows.uuid7, editable=False, primary_key=True, serialize=False)),
        ("created_at", models.DateTimeField(db_default=approvals.rows.Now(), editable=False)),
        (
            "workspace",
            models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="+", to="approvals.workspace"
            ),
        ),
    ]


class Migration(migrations.Migration):
    dependencies = [("runtime", "0008_tombstones")]

    operations = [
        migrations.CreateModel(
            name="Budget",
            fields=[
                *row(),
                ("currency", models.CharField(blank=True, max_length=3)),
                ("tokens_cap", models.PositiveBigIntegerField(null=True)),
                ("tokens_used", amount()),
                ("tokens_held", amount()),
                ("money_cap", models.PositiveBigIntegerField(null=True)),
                ("money_used", amount()),
                ("money_held", amount()),
                ("steps_cap", models.PositiveBigIntegerField(null=True)),
                ("steps_used", amount()),
                ("seconds_cap", models.PositiveBigIntegerField(null=True)),
                (
                    "root",
                    models.OneToOneField(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="runtime.run",
                    ),
                ),
            ],
            options={"abstract": False},
        ),
        migrations.CreateModel(
            name="Hold",
            fields=[
                *row(),
                ("status", models.CharField(default="held", max_length=8)),
                ("tokens", amount()),
                ("money", amount()),
                ("tokens_spent", amount()),
                ("money_spent", amount()),
                ("attempt", owned("runtime.attempt", related_name="hold")),
                (
                    "budget",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="holds",
                        to="runtime.budget",
                    ),
                ),
            ],
        ),
        migrations.AddConstraint(
            model_name="hold",
            constraint=models.CheckConstraint(
                condition=models.Q(("status__in", ["held", "settled", "charged"])), name="hold_status_is_known"
            ),
        ),
        migrations.AddField(
            "run",
            "budget",
            models.ForeignKey(
                db_constraint=False,
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="runs",
                to="runtime.budget",
            ),
        ),
        migrations.AddField("run", "budget_questions", models.PositiveIntegerField(default=0)),
        migrations.AddField("run", "budget_question", models.CharField(blank=True, max_length=40)),
        migrations.AddField("run", "waited", models.DurationField(default=timedelta)),
        migrations.AddField("call", "estimate", models.JSONField(default=dict)),
        migrations.AddField("attempt", "usage", models.JSONField(null=True)),
        *(
            migrations.RunSQL(sql)
            for sql in (
                parent_key("runtime_budget"),
                same_workspace("runtime_hold", "budget_id", "runtime_budget"),
                "ALTER TABLE runtime_attempt ADD CONSTRAINT runtime_attempt_key_in_workspace UNIQUE (workspace_id, id);",
                same_workspace("runtime_hold", "attempt_id", "runtime_attempt"),
                same_workspace("runtime_run", "budget_id", "runtime_budget"),
            )
        ),
    ]
