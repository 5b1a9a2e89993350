from django.db import migrations

from approvals.rows import ONLY_ERASE, only_erase

UNDO = "-- nothing to undo"


class Migration(migrations.Migration):
    dependencies = [("approvals", "0003_keys")]

    operations = [
        migrations.RunSQL(ONLY_ERASE, UNDO),
        migrations.RunSQL(only_erase("approvals_ruling", "args"), UNDO),
        migrations.RunSQL(only_erase("approvals_decision", "message", "response"), UNDO),
    ]
