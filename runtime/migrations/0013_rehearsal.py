from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("runtime", "0012_rotation")]

    operations = [migrations.AddField("run", "rehearsal", models.BooleanField(default=False))]
