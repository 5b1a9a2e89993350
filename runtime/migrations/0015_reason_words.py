from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("runtime", "0014_budget_for")]

    operations = [migrations.AddField("run", "reason_words", models.BinaryField(default=b""))]
