from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("runtime", "0004_snapshots_blobs")]

    operations = [
        migrations.AddField("call", "questions", models.PositiveIntegerField(default=0)),
        migrations.AddField("call", "question", models.CharField(blank=True, max_length=40)),
    ]
