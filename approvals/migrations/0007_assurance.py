from django.db import migrations, models


class Migration(migrations.Migration):
    """How sure it was who decided: nothing for a click, as for every decision before there was anything else."""

    dependencies = [("approvals", "0006_one_lock")]

    operations = [
        migrations.AddField("decision", "assurance", models.CharField(max_length=8, blank=True, default=""), preserve_default=False),
        migrations.AddField("decision", "methods", models.CharField(max_length=80, blank=True, default=""), preserve_default=False),
    ]
