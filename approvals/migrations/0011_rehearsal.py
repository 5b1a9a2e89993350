from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("approvals", "0010_frozen")]

    operations = [migrations.AddField("approval", "rehearsal", models.BooleanField(default=False))]
