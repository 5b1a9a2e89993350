import django.db.models.deletion
from django.db import migrations, models

import approvals.rows

# A summary of blocks in place of a tree: an entry that is written costs nothing more than before.
BY_TIME = "CREATE INDEX entries_by_time ON approvals_entry USING brin (at) WITH (pages_per_range = 16, autosummarize = on)"

COLUMNS = [("by", "filed_by_whom"), ("tool", "filed_of_a_tool"), ("agent", "filed_of_an_agent")]
COLUMNS += [("via", "filed_through"), ("verdict", "filed_as")]


class Migration(migrations.Migration):
    dependencies = [("approvals", "0026_hours")]

    operations = [
        migrations.RunSQL(BY_TIME, "DROP INDEX entries_by_time"),
        migrations.CreateModel(
            name="Filed",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=approvals.rows.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("at", models.DateTimeField()),
                ("seq", models.BigIntegerField()),
                ("by", models.CharField(max_length=40)),
                ("about", models.CharField(blank=True, max_length=80)),
                ("tool", models.CharField(blank=True, max_length=200)),
                ("agent", models.CharField(blank=True, max_length=120)),
                ("via", models.CharField(blank=True, max_length=16)),
                ("verdict", models.CharField(blank=True, max_length=16)),
                (
                    "workspace",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="approvals.workspace"
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["workspace", "-at"], name="filed_by_time"),
                    *[models.Index(fields=["workspace", column, "-at"], name=name) for column, name in COLUMNS],
                ]
            },
        ),
    ]
