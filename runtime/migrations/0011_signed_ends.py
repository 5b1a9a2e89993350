from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("runtime", "0010_order")]

    operations = [
        # What ended before has no code: where it matters whether anything happened, nobody knows.
        migrations.AddField("attempt", "end_mac", models.BinaryField(default=b"")),
    ]
