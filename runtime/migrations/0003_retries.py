from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("runtime", "0002_agents_credentials")]

    operations = [
        migrations.AddField("call", "retries", models.PositiveIntegerField(default=0)),
        migrations.AddField("call", "lookups", models.PositiveIntegerField(default=0)),
        migrations.AddField("call", "due_at", models.DateTimeField(null=True)),
    ]
