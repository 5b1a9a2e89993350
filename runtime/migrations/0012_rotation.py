import django.db.models.deletion
from django.db import migrations, models

from approvals.rows import parent_key, same_workspace


class Migration(migrations.Migration):
    dependencies = [("runtime", "0011_signed_ends")]

    operations = [
        migrations.AddField("agentcredential", "runs_per_minute", models.PositiveIntegerField(null=True)),
        migrations.AddField(
            "agentcredential",
            "follows",
            models.OneToOneField(
                db_constraint=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="successor",
                to="runtime.agentcredential",
            ),
        ),
        migrations.RunSQL(parent_key("runtime_agentcredential"), "-- nothing to undo"),
        migrations.RunSQL(
            same_workspace("runtime_agentcredential", "follows_id", "runtime_agentcredential"), "-- nothing to undo"
        ),
    ]
