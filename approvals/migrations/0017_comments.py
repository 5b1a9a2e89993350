import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import approvals.rows
from approvals.rows import only_erase, same_workspace, write_once

UNDO = "-- nothing to undo"
SQL = [
    write_once("approvals_comment"),
    only_erase("approvals_comment", "text"),
    same_workspace("approvals_comment", "approval_id", "approvals_approval"),
]


def of(to, **more):
    return models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to=to, **more)


class Migration(migrations.Migration):
    dependencies = [("approvals", "0016_absences")]

    operations = [
        migrations.CreateModel(
            name="Comment",
            fields=[
                (
                    "id",
                    models.UUIDField(default=approvals.rows.uuid7, editable=False, primary_key=True, serialize=False),
                ),
                ("created_at", models.DateTimeField(db_default=approvals.rows.Now(), editable=False)),
                ("revision", models.PositiveIntegerField()),
                ("text", models.BinaryField()),
                ("text_digest", models.CharField(max_length=64)),
                ("said_via", models.CharField(max_length=8)),
                ("said_at", models.DateTimeField()),
                ("mac", models.BinaryField()),
                ("approval", of("approvals.approval", related_name="comments")),
                ("person", of(settings.AUTH_USER_MODEL, related_name="+")),
                ("workspace", of("approvals.workspace", related_name="+")),
            ],
            options={"abstract": False},
        ),
        *(migrations.RunSQL(sql, UNDO) for sql in SQL),
    ]
