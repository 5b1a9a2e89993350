import django.db.models.deletion
from django.db import migrations, models

import approvals.rows


class Migration(migrations.Migration):
    dependencies = [("approvals", "0019_watch")]

    operations = [
        migrations.AddIndex(
            "approval",
            models.Index(
                fields=["workspace", "created_at"], condition=models.Q(status="pending"), name="approvals_waiting"
            ),
        ),
        migrations.CreateModel(
            name="Watcher",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=approvals.rows.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("created_at", models.DateTimeField(db_default=approvals.rows.Now(), editable=False)),
                ("label", models.CharField(blank=True, max_length=80)),
                ("shown", models.CharField(max_length=8)),
                ("secret_hash", models.CharField(max_length=64, unique=True)),
                ("revoked_at", models.DateTimeField(null=True)),
                ("mac", models.BinaryField()),
                (
                    "workspace",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="approvals.workspace"
                    ),
                ),
            ],
            options={"abstract": False},
        ),
    ]
