import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from approvals import rows

PROTECT = django.db.models.deletion.PROTECT
FINDINGS = [("open", "Open"), ("right", "Right"), ("wrong", "Wrong")]
VERDICTS = [
    ("approve", "Approve"),
    ("reject", "Reject"),
    ("edit", "Edit"),
    ("respond", "Respond"),
    ("choose", "Choose"),
    ("stop", "Stop"),
    ("retract", "Retract"),
    ("override", "Override"),
]


class Migration(migrations.Migration):
    dependencies = [("approvals", "0022_halts")]

    operations = [
        migrations.AlterField("decision", "verdict", models.CharField(choices=VERDICTS, max_length=8)),
        migrations.CreateModel(
            "GlassReview",
            [
                ("id", models.UUIDField(default=rows.uuid7, editable=False, primary_key=True, serialize=False)),
                ("created_at", models.DateTimeField(db_default=rows.Now(), editable=False)),
                ("team", models.CharField(max_length=40)),
                ("due_at", models.DateTimeField()),
                ("finding", models.CharField(choices=FINDINGS, default="open", max_length=5)),
                ("note", models.BinaryField(default=b"")),
                ("reviewed_at", models.DateTimeField(null=True)),
                ("approval", models.OneToOneField("approvals.approval", PROTECT, related_name="glass_review")),
                ("broken_by", models.ForeignKey(settings.AUTH_USER_MODEL, PROTECT, related_name="+")),
                ("reviewed_by", models.ForeignKey(settings.AUTH_USER_MODEL, PROTECT, null=True, related_name="+")),
                ("workspace", models.ForeignKey("approvals.workspace", PROTECT, related_name="+")),
            ],
        ),
        migrations.AddConstraint(
            "glassreview",
            models.CheckConstraint(
                condition=models.Q(finding__in=["open", "right", "wrong"]), name="glass_finding_is_known"
            ),
        ),
        migrations.RunSQL(
            rows.same_workspace("approvals_glassreview", "approval_id", "approvals_approval"),
            "ALTER TABLE approvals_glassreview DROP CONSTRAINT approvals_glassreview_approval_id_same_workspace",
        ),
    ]
