from django.db import migrations, models

from approvals.expiry import Shifted


class Migration(migrations.Migration):
    dependencies = [("approvals", "0009_signin")]

    operations = [
        migrations.AddField("approval", "frozen_seconds", models.PositiveIntegerField(default=0)),
        migrations.AddField(
            "approval",
            "ends_at",
            models.GeneratedField(
                expression=Shifted("expires_at", "frozen_seconds"), output_field=models.DateTimeField(), db_persist=True
            ),
        ),
        migrations.RemoveIndex("approval", "approvals_by_deadline"),
        migrations.RemoveIndex("approval", "approvals_due"),
        migrations.AddIndex(
            "approval", models.Index(fields=["workspace", "status", "ends_at"], name="approvals_by_deadline")
        ),
        migrations.AddIndex(
            "approval",
            models.Index(fields=["ends_at"], condition=models.Q(status="pending"), name="approvals_due"),
        ),
    ]
