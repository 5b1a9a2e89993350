import approvals.rows
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

KINDS = [("delegation", "Delegation"), ("out_of_office", "Out Of Office")]


def person(**more):
    return models.ForeignKey(
        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL, **more
    )


class Migration(migrations.Migration):
    dependencies = [("approvals", "0015_grants")]

    operations = [
        migrations.CreateModel(
            name="Absence",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=approvals.rows.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("created_at", models.DateTimeField(db_default=approvals.rows.Now(), editable=False)),
                ("kind", models.CharField(choices=KINDS, max_length=13)),
                ("person", person()),
                ("deputy", person(null=True)),
                ("teams", models.JSONField(default=list)),
                ("starts_at", models.DateTimeField()),
                ("ends_at", models.DateTimeField()),
                ("ended_at", models.DateTimeField(null=True)),
                ("mac", models.BinaryField()),
                (
                    "workspace",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="approvals.workspace"
                    ),
                ),
            ],
            options={"abstract": False},
        ),
        migrations.AddIndex(
            "absence",
            models.Index(
                condition=models.Q(("ended_at__isnull", True)),
                fields=["workspace", "ends_at"],
                name="absences_in_force",
            ),
        ),
        migrations.AddField("decision", "in_place_of", person(null=True)),
    ]
