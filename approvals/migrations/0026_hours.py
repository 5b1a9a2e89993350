import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

STEPS = [("remind", "Remind"), ("escalate", "Escalate"), ("nudge", "Nudge")]


class Migration(migrations.Migration):
    dependencies = [("approvals", "0025_clock")]

    operations = [
        migrations.CreateModel(
            "WorkingHours",
            [
                (
                    "person",
                    models.OneToOneField(
                        settings.AUTH_USER_MODEL,
                        django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="+",
                        serialize=False,
                    ),
                ),
                ("zone", models.CharField(max_length=60)),
                ("days", models.JSONField()),
                ("salt", models.BinaryField()),
            ],
            options={"verbose_name_plural": "working hours"},
        ),
        migrations.AlterField("duestep", "step", models.CharField(choices=STEPS, max_length=8)),
        migrations.AddField(
            "duestep",
            "asked_by",
            models.ForeignKey(
                settings.AUTH_USER_MODEL, django.db.models.deletion.PROTECT, null=True, related_name="+"
            ),
        ),
    ]
