from django.db import migrations, models


class Migration(migrations.Migration):
    """Who decides locks the approval by a SELECT that reads it, and need not touch it."""

    dependencies = [("approvals", "0005_signed_approvals")]

    operations = [
        migrations.RemoveField("approval", "touched"),
        migrations.AlterField(
            "revision",
            "ruling",
            models.OneToOneField(
                on_delete=models.deletion.PROTECT, related_name="revision_ruled", to="approvals.ruling"
            ),
        ),
    ]
