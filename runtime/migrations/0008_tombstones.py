from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("runtime", "0007_retention")]

    operations = [
        # A tombstone without a code proves nothing, and explains nothing to an anchor.
        migrations.AddField("tombstone", "mac", models.BinaryField(default=b""), preserve_default=False),
    ]
