from django.db import migrations, models

KINDS = [
    ("call", "Call"),
    ("breakpoint", "Breakpoint"),
    ("question", "Question"),
    ("budget", "Budget"),
    ("outcome", "Outcome"),
    ("grant", "Grant"),
    ("change", "Change"),
]


class Migration(migrations.Migration):
    dependencies = [("approvals", "0017_comments")]

    operations = [
        migrations.AlterField("approval", "kind", models.CharField(choices=KINDS, default="call", max_length=12)),
        migrations.RemoveConstraint("approval", "approval_kind_is_known"),
        migrations.AddConstraint(
            "approval",
            models.CheckConstraint(
                condition=models.Q(("kind__in", [kind for kind, _ in KINDS])), name="approval_kind_is_known"
            ),
        ),
    ]
