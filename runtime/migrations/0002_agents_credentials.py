import approvals.rows
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from approvals.rows import same_workspace


class Migration(migrations.Migration):
    dependencies = [
        ("approvals", "0001_initial"),
        ("runtime", "0001_initial"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="AgentCredential",
            fields=[
                ("id", models.UUIDField(default=approvals.rows.uuid7, editable=False, primary_key=True, serialize=False)),
                ("created_at", models.DateTimeField(db_default=approvals.rows.Now(), editable=False)),
                ("label", models.CharField(blank=True, max_length=80)),
                ("shown", models.CharField(max_length=8)),
                ("digest", models.CharField(max_length=64, unique=True)),
                ("expires_at", models.DateTimeField(null=True)),
                ("revoked_at", models.DateTimeField(null=True)),
                ("mac", models.BinaryField()),
                (
                    "agent",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="credentials",
                        to="runtime.agent",
                    ),
                ),
                (
                    "requester",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "workspace",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="approvals.workspace"
                    ),
                ),
            ],
            options={"abstract": False},
        ),
        migrations.RunSQL(same_workspace("runtime_agentcredential", "agent_id", "runtime_agent"), "-- nothing to undo"),
    ]
