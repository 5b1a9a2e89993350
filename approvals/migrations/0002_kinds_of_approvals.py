from django.db import migrations, models

KINDS = [
    ("call", "Call"),
    ("breakpoint", "Breakpoint"),
    ("question", "Question"),
    ("budget", "Budget"),
    ("outcome", "Outcome"),
]
VERDICTS = [
    ("approve", "Approve"),
    ("reject", "Reject"),
    ("edit", "Edit"),
    ("respond", "Respond"),
    ("choose", "Choose"),
]


class Migration(migrations.Migration):
    dependencies = [("approvals", "0001_initial")]

    operations = [
        migrations.AlterField("approval", "kind", models.CharField(choices=KINDS, default="call", max_length=12)),
        migrations.AlterField("approval", "subject", models.CharField(max_length=80)),
        migrations.AlterField("ruling", "subject", models.CharField(max_length=80)),
        migrations.AddField("approval", "response_schema", models.JSONField(default=dict)),
        migrations.AddField(
            "approval", "choice", models.CharField(blank=True, default="", max_length=40), preserve_default=False
        ),
        migrations.AlterField("decision", "verdict", models.CharField(choices=VERDICTS, max_length=8)),
        migrations.AddField("decision", "response", models.BinaryField(default=b"")),
        migrations.AddField(
            "decision", "response_digest", models.CharField(blank=True, default="", max_length=64), preserve_default=False
        ),
        migrations.AddField(
            "decision", "choice", models.CharField(blank=True, default="", max_length=40), preserve_default=False
        ),
        migrations.AddConstraint(
            "approval",
            models.CheckConstraint(
                condition=models.Q(("kind__in", ["call", "breakpoint", "question", "budget", "outcome"])),
                name="approval_kind_is_known",
            ),
        ),
    ]
