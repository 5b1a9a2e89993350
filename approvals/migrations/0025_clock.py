from django.db import migrations

CLOCK = """
CREATE OR REPLACE FUNCTION placet_now() RETURNS timestamptz LANGUAGE sql VOLATILE AS $$ SELECT clock_timestamp() $$;
"""
"""Whoever may alter the database or a role could otherwise set it another time: an hour in which a rule does not hold,
or an approval that never ends."""


class Migration(migrations.Migration):
    dependencies = [("approvals", "0024_addresses")]

    operations = [migrations.RunSQL(CLOCK, migrations.RunSQL.noop)]
