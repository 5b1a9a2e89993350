from django.db import migrations, models

VERDICTS = [
    ("approve", "Approve"),
    ("reject", "Reject"),
    ("edit", "Edit"),
    ("respond", "Respond"),
    ("choose", "Choose"),
    ("stop", "Stop"),
    ("retract", "Retract"),
]


class Migration(migrations.Migration):
    dependencies = [("approvals", "0013_edits")]

    operations = [
        migrations.AlterField("decision", "verdict", models.CharField(choices=VERDICTS, max_length=8)),
    ]
