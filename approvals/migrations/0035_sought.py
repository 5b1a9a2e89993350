import django.db.models.deletion
from django.db import migrations, models

from approvals.rows import same_workspace

class Migration(migrations.Migration):
    dependencies = [("approvals", "0034_askers")]

    operations = [
        migrations.CreateModel(
            "Token",
            [
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("token", models.BigIntegerField()),
                (
                    "approval",
                    models.ForeignKey(
                        "approvals.approval", django.db.models.deletion.PROTECT, related_name="+"
                    ),
                ),
                (
                    "workspace",
                    models.ForeignKey("approvals.workspace", django.db.models.deletion.PROTECT, related_name="+"),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        fields=["approval"], condition=models.Q(token__lt=0), name="approvals_to_look_through"
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(fields=["workspace", "token", "approval"], name="one_token_of_a_word")
                ],
            },
        ),
        migrations.RunSQL(
            same_workspace("approvals_token", "approval_id", "approvals_approval"), migrations.RunSQL.noop
        ),
    ]
