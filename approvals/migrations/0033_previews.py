import django.db.models.deletion
from django.db import migrations, models

import approvals.rows
from approvals.rows import only_erase, same_workspace, write_once

UNDO = "-- nothing to undo"
SQL = [
    write_once("approvals_preview"),
    only_erase("approvals_preview", "answer"),
    same_workspace("approvals_preview", "approval_id", "approvals_approval"),
]


def of(to, **more):
    return models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to=to, **more)


class Migration(migrations.Migration):
    dependencies = [("approvals", "0032_saved_filters")]

    operations = [
        migrations.CreateModel(
            name="Preview",
            fields=[
                (
                    "id",
                    models.UUIDField(default=approvals.rows.uuid7, editable=False, primary_key=True, serialize=False),
                ),
                ("created_at", models.DateTimeField(db_default=approvals.rows.Now(), editable=False)),
                ("revision", models.PositiveIntegerField()),
                ("answer", models.BinaryField()),
                ("answer_digest", models.CharField(max_length=64)),
                ("made_at", models.DateTimeField()),
                ("mac", models.BinaryField()),
                ("approval", of("approvals.approval", related_name="previews")),
                ("workspace", of("approvals.workspace", related_name="+")),
            ],
            options={"abstract": False},
        ),
        *(migrations.RunSQL(sql, UNDO) for sql in SQL),
    ]
