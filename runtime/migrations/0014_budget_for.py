from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("runtime", "0013_rehearsal")]

    operations = [
        migrations.AddField("run", "budget_for", models.JSONField(default=list)),
        migrations.AddIndex(
            "run",
            models.Index(
                fields=["status"],
                condition=models.Q(("budget_question", ""), _negated=True),
                name="runs_asking_for_budget",
            ),
        ),
    ]
