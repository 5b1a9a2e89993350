"""What operators' pages look for is found without reading all of it: runs of an agent, calls of unknown outcome."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("runtime", "0015_reason_words")]

    operations = [
        migrations.AddIndex(
            "run", models.Index(fields=["workspace", "agent", "-created_at"], name="runs_by_agent")
        ),
        migrations.AddIndex(
            "call",
            models.Index(fields=["workspace", "created_at"], condition=models.Q(status="unknown"), name="calls_unknown"),
        ),
    ]
