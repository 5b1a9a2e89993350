"""Arguments as people see and change them: what will run as a table, an edit as a form, the difference of the two."""

from __future__ import annotations

from approvals.edits.checks import check as check
from approvals.edits.difference import Change as Change
from approvals.edits.difference import difference as difference
from approvals.edits.field import Field as Field
from approvals.edits.form import Form as Form
from approvals.edits.reading import Edited as Edited
from approvals.edits.reading import fields as fields
from approvals.edits.reading import raw_text as raw_text
from approvals.edits.reading import read as read
from approvals.edits.reading import read_raw as read_raw
from approvals.edits.shapes import same as same
from approvals.edits.table import Argument as Argument
from approvals.edits.table import table as table
from approvals.edits.view import Tool as Tool
from approvals.edits.view import secrets as secrets
