"""The index of this app's tables; each is written in the file of its noun."""

from runtime.attempts import Attempt as Attempt
from runtime.blobs import Blob as Blob
from runtime.blobs import BlobUse as BlobUse
from runtime.breakpoints import Breakpoint as Breakpoint
from runtime.budgets import Budget as Budget
from runtime.budgets import Hold as Hold
from runtime.calls import Call as Call
from runtime.checkpoints import Checkpoint as Checkpoint
from runtime.credentials import AgentCredential as AgentCredential
from runtime.definitions import Agent as Agent
from runtime.definitions import AgentVersion as AgentVersion
from runtime.definitions import Tool as Tool
from runtime.processes import Process as Process
from runtime.retention import Tombstone as Tombstone
from runtime.runs import Run as Run
from runtime.snapshots import Snapshot as Snapshot
from runtime.threads import Thread as Thread
