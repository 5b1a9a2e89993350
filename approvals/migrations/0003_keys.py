"""A retired root key is kept, sealed with a later one."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("approvals", "0002_kinds_of_approvals")]

    operations = [
        migrations.AddField("keycheck", "kept", models.BinaryField(null=True)),
        migrations.AddField("keycheck", "kept_by", models.PositiveIntegerField(null=True)),
    ]
