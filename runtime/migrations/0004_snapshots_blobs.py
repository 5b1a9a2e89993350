import approvals.rows
import django.db.models.deletion
from django.db import migrations, models

from approvals.rows import same_workspace

# One step, one commit, one statement. Whoever adds a column to checkpoints that a step fills replaces this function.
MOVE_HEAD = """
CREATE OR REPLACE FUNCTION placet_move_head(
    p_id uuid, p_workspace uuid, p_run uuid, p_seq bigint, p_kind text, p_schema integer, p_node text, p_goto text,
    p_usage jsonb, p_fence bigint, p_attempt uuid, p_body bytea, p_commit bytea, p_prev bytea, p_mac bytea,
    p_obey boolean, p_consumed uuid[]
) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('app.workspace', p_workspace::text, true);
    UPDATE runtime_run SET head_seq = p_seq, head_mac = p_mac, verified_seq = p_seq, attempts = 0
        WHERE id = p_run AND workspace_id = p_workspace AND fence = p_fence AND status = 'in_progress'
            AND head_seq = p_seq - 1 AND (cancel_by = '' OR NOT p_obey);
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    INSERT INTO runtime_checkpoint (id, workspace_id, run_id, seq, kind, schema_version, node, goto, usage, fence,
            attempt_id, body, body_commit, prev_mac, mac)
        VALUES (p_id, p_workspace, p_run, p_seq, p_kind, p_schema, p_node, p_goto, p_usage, p_fence,
            p_attempt, p_body, p_commit, p_prev, p_mac);
    IF cardinality(p_consumed) > 0 THEN
        UPDATE runtime_call SET consumed_seq = p_seq WHERE id = ANY(p_consumed) AND run_id = p_run;
    END IF;
    RETURN true;
END $$;
"""

CHILDREN = [("snapshot", "run_id"), ("blobuse", "run_id")]


def _row(name, *fields):
    return migrations.CreateModel(
        name=name,
        fields=[
            ("id", models.UUIDField(default=approvals.rows.uuid7, editable=False, primary_key=True, serialize=False)),
            ("created_at", models.DateTimeField(db_default=approvals.rows.Now(), editable=False)),
            *fields,
            (
                "workspace",
                models.ForeignKey(
                    on_delete=django.db.models.deletion.PROTECT, related_name="+", to="approvals.workspace"
                ),
            ),
        ],
        options={"abstract": False},
    )


def _run(related):
    return models.ForeignKey(
        db_constraint=False, on_delete=django.db.models.deletion.PROTECT, related_name=related, to="runtime.run"
    )


def _unique(model, name, *fields):
    return migrations.AddConstraint(
        model_name=model, constraint=models.UniqueConstraint(fields=fields, name=name)
    )


def _constraints():
    yield MOVE_HEAD
    for child, column in CHILDREN:
        yield same_workspace(f"runtime_{child}", column, "runtime_run")
    for table in ("snapshot", "blob"):
        yield f"ALTER TABLE runtime_{table} ALTER COLUMN body SET STORAGE EXTERNAL;"


class Migration(migrations.Migration):
    dependencies = [("runtime", "0003_retries")]

    operations = [
        _row(
            "Snapshot",
            ("seq", models.PositiveBigIntegerField()),
            ("since", models.PositiveBigIntegerField()),
            ("size", models.PositiveBigIntegerField()),
            ("live", models.PositiveBigIntegerField()),
            ("mac", models.BinaryField()),
            ("body", models.BinaryField()),
            ("run", _run("snapshots")),
        ),
        _row(
            "Blob",
            ("digest", models.BinaryField()),
            ("size", models.PositiveIntegerField()),
            ("body", models.BinaryField()),
        ),
        _row("BlobUse", ("digest", models.BinaryField()), ("run", _run("+"))),
        _unique("snapshot", "one_snapshot_of_a_checkpoint", "run", "seq"),
        _unique("blob", "one_blob_of_a_content", "workspace", "digest"),
        _unique("blobuse", "one_use_of_a_blob", "run", "digest"),
        *(migrations.RunSQL(sql, "-- nothing to undo") for sql in _constraints()),
    ]
