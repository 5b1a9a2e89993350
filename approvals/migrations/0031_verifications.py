import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import approvals.rows


class Migration(migrations.Migration):
    dependencies = [("approvals", "0030_names")]

    operations = [
        migrations.CreateModel(
            name="Verification",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=approvals.rows.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("created_at", models.DateTimeField(db_default=approvals.rows.Now(), editable=False)),
                ("status", models.CharField(default="running", max_length=8)),
                ("total", models.PositiveIntegerField(default=0)),
                ("chains", models.PositiveIntegerField(default=0)),
                ("entries", models.PositiveBigIntegerField(default=0)),
                ("faults", models.PositiveIntegerField(default=0)),
                ("findings", models.JSONField(default=list)),
                ("reached", models.CharField(max_length=80, null=True)),
                ("further", models.PositiveIntegerField(default=0)),
                ("working_until", models.DateTimeField(db_default=approvals.rows.Now())),
                ("ended_at", models.DateTimeField(null=True)),
                (
                    "started_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
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
                "indexes": [models.Index(fields=["workspace", "-created_at"], name="verifications_by_time")],
                "constraints": [
                    models.UniqueConstraint(
                        fields=["workspace"],
                        condition=models.Q(status="running"),
                        name="one_verification_at_a_time",
                    )
                ],
            },
        ),
    ]
