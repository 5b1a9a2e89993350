from django.db import migrations, models

VERDICTS = [
    ("approve", "Approve"),
    ("reject", "Reject"),
    ("edit", "Edit"),
    ("respond", "Respond"),
    ("choose", "Choose"),
    ("stop", "Stop"),
]


class Migration(migrations.Migration):
    dependencies = [("approvals", "0007_assurance")]

    operations = [
        migrations.AlterField("decision", "verdict", models.CharField(choices=VERDICTS, max_length=8)),
    ]
