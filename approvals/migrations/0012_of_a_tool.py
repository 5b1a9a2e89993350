from django.db import migrations, models

ENDED = ~models.Q(status="pending")


class Migration(migrations.Migration):
    dependencies = [("approvals", "0011_rehearsal")]

    operations = [
        migrations.RemoveIndex("approval", "approvals_decided"),
        migrations.AddIndex(
            "approval", models.Index(fields=["workspace", "-decided_at"], condition=ENDED, name="approvals_decided")
        ),
        migrations.AddIndex(
            "approval",
            models.Index(fields=["workspace", "status", "-decided_at"], condition=ENDED, name="approvals_ended_so"),
        ),
        migrations.AddIndex(
            "approval", models.Index(fields=["workspace", "tool", "-decided_at"], name="approvals_of_a_tool")
        ),
        migrations.AddIndex(
            "approval", models.Index(fields=["workspace", "agent", "-decided_at"], name="approvals_of_an_agent")
        ),
    ]
