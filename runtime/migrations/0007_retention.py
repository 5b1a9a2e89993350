import approvals.rows
import django.db.models.deletion
from django.db import migrations, models

from approvals.rows import write_once

UNDO = "-- nothing to undo"

# The two exceptions from "written once": a body may be emptied, and a checkpoint whose run has a tombstone deleted.
GUARD = """
CREATE OR REPLACE FUNCTION placet_guard_checkpoint() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' AND EXISTS (SELECT FROM runtime_tombstone
            WHERE id = OLD.run_id AND workspace_id = OLD.workspace_id) THEN
        RETURN OLD;
    END IF;
    IF TG_OP = 'UPDATE' AND NEW.body = '' AND to_jsonb(NEW) - 'body' = to_jsonb(OLD) - 'body' THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'Rows of % are written once: % is refused.', TG_TABLE_NAME, TG_OP USING ERRCODE =
    'restrict_violation';
END $$;
DROP TRIGGER runtime_checkpoint_row_is_final ON runtime_checkpoint;
CREATE TRIGGER runtime_checkpoint_row_is_final BEFORE UPDATE OR DELETE ON runtime_checkpoint
    FOR EACH ROW EXECUTE FUNCTION placet_guard_checkpoint();
"""
# A deleted run never comes back: not even its row can be written again.
FINAL = """
CREATE OR REPLACE FUNCTION placet_refuse_deleted_run() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM runtime_tombstone WHERE id = NEW.id) THEN
        RAISE EXCEPTION 'This run was deleted.' USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER runtime_run_stays_deleted BEFORE INSERT ON runtime_run
    FOR EACH ROW EXECUTE FUNCTION placet_refuse_deleted_run();
"""


class Migration(migrations.Migration):
    dependencies = [("runtime", "0006_breakpoints_and_questions"), ("approvals", "0004_erasure")]

    operations = [
        migrations.CreateModel(
            name="Tombstone",
            fields=[
                (
                    "id",
                    models.UUIDField(default=approvals.rows.uuid7, editable=False, primary_key=True, serialize=False),
                ),
                ("created_at", models.DateTimeField(db_default=approvals.rows.Now(), editable=False)),
                ("by", models.CharField(max_length=40)),
                (
                    "workspace",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="approvals.workspace"
                    ),
                ),
            ],
            options={"abstract": False},
        ),
        migrations.AddField("run", "erased_at", models.DateTimeField(null=True)),
        migrations.RunSQL(write_once("runtime_tombstone"), UNDO),
        migrations.RunSQL(GUARD, UNDO),
        migrations.RunSQL(FINAL, UNDO),
    ]
