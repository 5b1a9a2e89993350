from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from approvals.approvals import sign


def sign_all(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """What was opened before there were signatures is signed as it stands."""
    approvals = apps.get_model("approvals", "Approval").objects
    for approval in approvals.order_by("pk").iterator(500):
        approvals.filter(pk=approval.pk).update(mac=sign(approval))


class Migration(migrations.Migration):
    dependencies = [("approvals", "0004_erasure")]

    operations = [
        migrations.AddField("approval", "mac", models.BinaryField(default=b"")),
        migrations.RunPython(sign_all, migrations.RunPython.noop),
    ]
