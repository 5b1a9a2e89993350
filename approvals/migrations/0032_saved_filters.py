import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import approvals.rows


class Migration(migrations.Migration):
    dependencies = [("approvals", "0031_verifications")]

    operations = [
        migrations.CreateModel(
            name="SavedFilter",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=approvals.rows.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("created_at", models.DateTimeField(db_default=approvals.rows.Now(), editable=False)),
                ("page", models.CharField(max_length=20)),
                ("name", models.CharField(max_length=60)),
                ("asked", models.JSONField(default=dict)),
                (
                    "person",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "workspace",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="approvals.workspace"
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=["workspace", "person", "page", "name"], name="one_saved_filter_of_a_name"
                    )
                ]
            },
        ),
    ]
