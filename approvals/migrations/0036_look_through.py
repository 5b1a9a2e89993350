from django.db import migrations

LOOK_THROUGH = """
INSERT INTO approvals_token (workspace_id, approval_id, token)
    SELECT workspace_id, id, -revision FROM approvals_approval WHERE status = 'pending';
"""
"""What waited before there were words is looked through by the sweep, like what is opened from now on."""


class Migration(migrations.Migration):
    dependencies = [("approvals", "0035_sought")]

    operations = [migrations.RunSQL(LOOK_THROUGH, migrations.RunSQL.noop)]
