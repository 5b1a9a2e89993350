from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("runtime", "0009_budgets")]

    operations = [
        # What was taken in before is shown as it was: nobody wrote down in which order its author had it.
        migrations.AddField("tool", "order", models.JSONField(default=dict)),
    ]
