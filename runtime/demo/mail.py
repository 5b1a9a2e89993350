"""The desk's mail tool: it speaks SMTP, to the demo's mail catcher.

A mail server has no idea of an idempotency key: a message that is sent twice arrives twice. So the tool is `unsafe`,
and when nobody knows whether a message was taken, a person is asked. The Message-ID comes from the key, by which at
least the receiver can tell that two messages are one.
"""

from __future__ import annotations

import smtplib
from email.header import Header
from email.mime.text import MIMEText
from email.utils import formatdate
from pathlib import Path
from typing import Any, Final

from django.conf import settings

from runtime.demo import services
from runtime.tools import Refused, Unanswered, Use, tool

SENDER: Final = "desk@northwind.example"
LINE: Final = "^[^\\x00-\\x1f\\x7f\\u0085\\u2028\\u2029]*$"


@tool(
    "mail.send",
    title="Send a mail",
    description="Send one mail in the shop's name. What has been sent cannot be called back.",
    schema={
        "type": "object",
        "additionalProperties": False,
        "required": ["to", "subject", "text"],
        "properties": {
            "to": {"type": "string", "title": "To", "format": "email", "pattern": "^[!-~]+$", "maxLength": 200},
            "subject": {"type": "string", "title": "Subject", "minLength": 1, "maxLength": 200, "pattern": LINE},
            "text": {"type": "string", "title": "Text", "minLength": 1, "maxLength": 20000},
        },
    },
    effect="unsafe",
    summary="Mail {/to}: {/subject}",
    risk="medium",
    timeout_seconds=20,
)
def send(args: dict[str, Any], use: Use) -> dict[str, Any]:
    """Hand the message to the server. Refused before it was taken, it was not sent; silence after that is unknown."""
    message = compose(args, use.key)
    port = services.mailbox(Path(settings.PLACET_HOME)).port
    try:
        server = smtplib.SMTP("127.0.0.1", port, local_hostname="localhost", timeout=max(use.seconds - 1, 1))
    except OSError as fault:
        raise Refused(f"The mail server cannot be reached: {fault}") from fault
    try:
        server.sendmail(SENDER, [args["to"]], message.as_bytes())
    except (smtplib.SMTPRecipientsRefused, smtplib.SMTPSenderRefused, smtplib.SMTPDataError) as refusal:
        raise Refused(f"The mail server refused the message: {refusal}") from refusal
    except (OSError, smtplib.SMTPException) as silence:
        raise Unanswered(f"The mail server did not say whether it took the message: {silence}") from silence
    finally:
        server.close()
    return {"message_id": message["Message-ID"], "to": args["to"]}


def compose(args: dict[str, Any], key: str) -> MIMEText:
    """The message. Its subject is encoded as a whole, so that text which looks like a header, or like an encoded word,
    is shown as it was approved."""
    message = MIMEText(args["text"], "plain", "utf-8")
    message["From"] = f"Northwind refund desk <{SENDER}>"
    message["To"] = args["to"]
    message["Subject"] = Header(args["subject"], "utf-8", header_name="Subject").encode()
    message["Date"] = formatdate()
    message["Message-ID"] = f"<{key[:32]}@northwind.example>"
    return message
