"""Triggers: the SQL, for migrations, of what tables themselves refuse."""

from __future__ import annotations

# Rows that are written once

REFUSE_CHANGE = """
CREATE OR REPLACE FUNCTION placet_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'Rows of % are written once: % is refused.', TG_TABLE_NAME, TG_OP USING ERRCODE =
    'restrict_violation';
END $$;
"""


def write_once(table: str) -> str:
    """The SQL, for a migration, by which a table refuses UPDATE, DELETE and TRUNCATE whoever asks."""
    return f"""
    CREATE TRIGGER {table}_row_is_final BEFORE UPDATE OR DELETE ON {table}
        FOR EACH ROW EXECUTE FUNCTION placet_refuse_change();
    CREATE TRIGGER {table}_table_is_final BEFORE TRUNCATE ON {table}
        FOR EACH STATEMENT EXECUTE FUNCTION placet_refuse_change();
    """


ONLY_ERASE = r"""
CREATE OR REPLACE FUNCTION placet_only_erase() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    emptied jsonb := '{}';
    name text;
BEGIN
    IF TG_OP = 'UPDATE' THEN
        FOREACH name IN ARRAY TG_ARGV LOOP
            IF to_jsonb(NEW) ->> name = '\x' THEN
                emptied := emptied || jsonb_build_object(name, '\x');
            END IF;
        END LOOP;
        IF emptied <> '{}' AND to_jsonb(NEW) = to_jsonb(OLD) || emptied THEN
            RETURN NEW;
        END IF;
    END IF;
    RAISE EXCEPTION 'Rows of % are written once: % is refused.', TG_TABLE_NAME, TG_OP USING ERRCODE =
    'restrict_violation';
END $$;
"""


def only_erase(table: str, *columns: str) -> str:
    """The SQL, for a migration, by which a table written once lets these sealed columns be emptied, and nothing
    else."""
    named = ", ".join(f"'{column}'" for column in columns)
    return f"""
    DROP TRIGGER {table}_row_is_final ON {table};
    CREATE TRIGGER {table}_row_is_final BEFORE UPDATE OR DELETE ON {table}
        FOR EACH ROW EXECUTE FUNCTION placet_only_erase({named});
    """


def same_workspace(child: str, column: str, parent: str) -> str:
    """The SQL, for a migration, that holds a child and the parent its column names in one workspace.

    The parent table needs UNIQUE (workspace_id, id), see `parent_key`.
    """
    return f"""
    ALTER TABLE {child} ADD CONSTRAINT {child}_{column}_same_workspace
        FOREIGN KEY (workspace_id, {column}) REFERENCES {parent} (workspace_id, id);
    """


def parent_key(table: str) -> str:
    """The SQL, for a migration, that lets other tables name a row of this one together with its workspace."""
    return f"ALTER TABLE {table} ADD CONSTRAINT {table}_key_in_workspace UNIQUE (workspace_id, id);"
