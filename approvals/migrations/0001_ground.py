"""The clock and the refusal that later tables stand on."""

from django.db import migrations

from approvals.rows import REFUSE_CHANGE

CLOCK = """
CREATE OR REPLACE FUNCTION placet_now() RETURNS timestamptz LANGUAGE sql VOLATILE AS $$
    SELECT clock_timestamp()
        + make_interval(secs => COALESCE(NULLIF(current_setting('placet.clock_offset', true), ''), '0')::double precision)
$$;
"""


class Migration(migrations.Migration):
    initial = True
    dependencies = []
    operations = [migrations.RunSQL(CLOCK), migrations.RunSQL(REFUSE_CHANGE)]
