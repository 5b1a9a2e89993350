from django.db import migrations, models

from approvals.ledger import keys
from approvals.passwords import address_bytes


def sign_addresses(apps, schema_editor):
    """What was written before addresses were proved is proved as it stands."""
    people = apps.get_model("approvals", "Person").objects
    for person in people.order_by("pk").iterator(500):
        people.filter(pk=person.pk).update(address_mac=keys.sign("address", address_bytes(person)))


class Migration(migrations.Migration):
    dependencies = [("approvals", "0023_glass")]

    operations = [
        migrations.AddField("person", "address_mac", models.BinaryField(default=b"")),
        migrations.RunPython(sign_addresses, migrations.RunPython.noop),
    ]
