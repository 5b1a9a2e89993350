import approvals.rows
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from approvals.ledger import keys
from approvals.passwords import password_bytes

CACHE = """
CREATE TABLE placet_cache (cache_key varchar(255) PRIMARY KEY, value text NOT NULL, expires timestamptz NOT NULL);
CREATE INDEX placet_cache_expires ON placet_cache (expires);
"""
OPEN = [("open", "Open"), ("accepted", "Accepted"), ("withdrawn", "Withdrawn")]


def sign_passwords(apps, schema_editor):
    """What was chosen before passwords were proved is proved as it stands."""
    people = apps.get_model("approvals", "Person").objects
    for person in people.order_by("pk").iterator(500):
        people.filter(pk=person.pk).update(password_mac=keys.sign("password", password_bytes(person)))


def key():
    return models.UUIDField(default=approvals.rows.uuid7, editable=False, primary_key=True, serialize=False)


def person(on_delete=django.db.models.deletion.PROTECT, **more):
    return models.ForeignKey(on_delete=on_delete, to=settings.AUTH_USER_MODEL, **{"related_name": "+", **more})


class Migration(migrations.Migration):
    dependencies = [("approvals", "0008_stop")]

    operations = [
        migrations.RunSQL(CACHE, "DROP TABLE placet_cache"),
        migrations.AddField("person", "password_mac", models.BinaryField(default=b"")),
        migrations.AddField("person", "sign_outs", models.PositiveIntegerField(default=0)),
        migrations.RunPython(sign_passwords, migrations.RunPython.noop),
        migrations.CreateModel(
            name="Identity",
            fields=[
                ("id", key()),
                ("issuer", models.CharField(max_length=255)),
                ("subject", models.CharField(max_length=255)),
                ("email", models.EmailField(blank=True, max_length=254)),
                ("linked_at", models.DateTimeField(db_default=approvals.rows.Now(), editable=False)),
                ("mac", models.BinaryField()),
                ("person", person(related_name="identities")),
            ],
        ),
        migrations.AddConstraint(
            "identity", models.UniqueConstraint(fields=("issuer", "subject"), name="one_person_of_a_subject")
        ),
        migrations.CreateModel(
            name="Reset",
            fields=[
                ("id", key()),
                ("secret_hash", models.CharField(max_length=64, unique=True)),
                ("expires_at", models.DateTimeField()),
                ("mac", models.BinaryField()),
                ("person", person(django.db.models.deletion.CASCADE)),
            ],
        ),
        migrations.CreateModel(
            name="Invitation",
            fields=[
                ("id", key()),
                ("created_at", models.DateTimeField(db_default=approvals.rows.Now(), editable=False)),
                ("email", models.EmailField(max_length=254)),
                ("teams", models.JSONField(default=list)),
                ("secret_hash", models.CharField(max_length=64, unique=True)),
                ("expires_at", models.DateTimeField()),
                ("status", models.CharField(choices=OPEN, default="open", max_length=9)),
                ("mac", models.BinaryField()),
                ("accepted_by", person(null=True)),
                ("invited_by", person(null=True)),
                (
                    "workspace",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="approvals.workspace"
                    ),
                ),
            ],
            options={"abstract": False},
        ),
    ]
