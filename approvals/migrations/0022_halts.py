import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from approvals import rows


class Migration(migrations.Migration):
    dependencies = [("approvals", "0021_due")]

    operations = [
        migrations.CreateModel(
            "Halt",
            [
                ("id", models.UUIDField(default=rows.uuid7, editable=False, primary_key=True, serialize=False)),
                ("created_at", models.DateTimeField(db_default=rows.Now(), editable=False)),
                ("agent", models.CharField(max_length=120, blank=True)),
                (
                    "status",
                    models.CharField(choices=[("on", "On"), ("over", "Over")], default="on", max_length=4),
                ),
                ("reason", models.BinaryField(default=b"")),
                ("begun_at", models.DateTimeField()),
                (
                    "begun_by",
                    models.ForeignKey(
                        settings.AUTH_USER_MODEL, django.db.models.deletion.PROTECT, null=True, related_name="+"
                    ),
                ),
                ("ended_at", models.DateTimeField(null=True)),
                (
                    "ended_by",
                    models.ForeignKey(
                        settings.AUTH_USER_MODEL, django.db.models.deletion.PROTECT, null=True, related_name="+"
                    ),
                ),
                (
                    "workspace",
                    models.ForeignKey("approvals.workspace", django.db.models.deletion.PROTECT, related_name="+"),
                ),
            ],
        ),
        migrations.AddConstraint(
            "halt",
            models.UniqueConstraint(
                fields=["workspace", "agent"], condition=models.Q(status="on"), name="one_halt_at_a_time"
            ),
        ),
        migrations.AddConstraint(
            "halt",
            models.CheckConstraint(condition=models.Q(status__in=["on", "over"]), name="halt_status_is_known"),
        ),
    ]
