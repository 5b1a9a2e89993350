from django.db import migrations, models

from approvals.rows import only_erase

UNDO = "-- nothing to undo"


class Migration(migrations.Migration):
    """What an edit changed, as JSON Patch: nothing for every edit before there was such a record."""

    dependencies = [("approvals", "0012_of_a_tool")]

    operations = [
        migrations.AddField("decision", "patch", models.BinaryField(default=b"")),
        migrations.AddField("decision", "patch_digest", models.CharField(max_length=64, blank=True, default=""), preserve_default=False),
        migrations.RunSQL(only_erase("approvals_decision", "message", "response", "patch"), UNDO),
    ]
