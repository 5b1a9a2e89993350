from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("approvals", "0033_previews")]

    operations = [
        migrations.AddIndex(
            "approval",
            models.Index(fields=["workspace", "requester", "-decided_at"], name="approvals_of_an_asker"),
        ),
    ]
