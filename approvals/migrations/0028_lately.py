from django.db import migrations, models


class Migration(migrations.Migration):
    """What was ruled lately is found without reading all that ever was."""

    dependencies = [("approvals", "0027_filed")]

    operations = [
        migrations.AddIndex(
            "ruling", models.Index(fields=["workspace", "-created_at"], name="rulings_of_late")
        ),
    ]
