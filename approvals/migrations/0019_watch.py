from django.db import migrations, models


class Migration(migrations.Migration):
    """What a shadow let go, how often a call was refused before it was asked, and how much there was to read."""

    dependencies = [("approvals", "0018_changes")]

    operations = [
        migrations.AddField("ruling", "shadow", models.BooleanField(default=False)),
        migrations.AddIndex(
            "ruling",
            models.Index(
                fields=["workspace", "-created_at"], condition=models.Q(shadow=True), name="rulings_in_shadow"
            ),
        ),
        migrations.AddField("approval", "refused_before", models.PositiveIntegerField(default=0)),
        migrations.AddField("revision", "length", models.PositiveIntegerField(default=0)),
        migrations.AddIndex(
            "revision",
            models.Index(
                fields=["workspace", "args_digest", "-created_at"], condition=models.Q(number=1), name="revisions_proposed_alike"
            ),
        ),
        migrations.AddIndex(
            "decision", models.Index(fields=["workspace", "-decided_at"], name="decisions_by_time")
        ),
    ]
