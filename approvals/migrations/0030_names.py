from django.db import migrations, models

from approvals.ledger import keys
from approvals.passwords import name_bytes


def sign_names(apps, schema_editor):
    """What was written before names were proved is proved as it stands."""
    people = apps.get_model("approvals", "Person").objects
    for person in people.order_by("pk").iterator(500):
        people.filter(pk=person.pk).update(name_mac=keys.sign("name", name_bytes(person)))


class Migration(migrations.Migration):
    dependencies = [("approvals", "0029_drafts")]

    operations = [
        migrations.AddField("person", "name_mac", models.BinaryField(default=b"")),
        migrations.RunPython(sign_names, migrations.RunPython.noop),
    ]
