"""Agents and tools as rows: versioned, digested, signed."""

from approvals.ledger import keys
from runtime.definitions.agents import Agent as Agent
from runtime.definitions.agents import AgentVersion as AgentVersion
from runtime.definitions.agents import TakesNoRuns as TakesNoRuns
from runtime.definitions.agents import agent_named as agent_named
from runtime.definitions.agents import check_in_force as check_in_force
from runtime.definitions.agents import register_agent as register_agent
from runtime.definitions.agents import told as told
from runtime.definitions.offers import Offer as Offer
from runtime.definitions.offers import of_tool as of_tool
from runtime.definitions.offers import offer as offer
from runtime.definitions.offers import register_function as register_function
from runtime.definitions.offers import register_offers as register_offers
from runtime.definitions.offers import register_tool as register_tool
from runtime.definitions.switches import Off as Off
from runtime.definitions.switches import off as off
from runtime.definitions.switches import switch_off as switch_off
from runtime.definitions.switches import switch_on as switch_on
from runtime.definitions.switches import why_off as why_off
from runtime.definitions.toolbox import Tool as Tool
from runtime.definitions.toolbox import facts as facts
from runtime.definitions.toolbox import signing_secret as signing_secret
from runtime.definitions.toolbox import tool_named as tool_named


def genuine(row: Tool | AgentVersion) -> bool:
    """Whether the row is as it was written, with a key that this process has."""
    try:
        return row.holds()
    except keys.UnknownKey:
        return False


def reads(tool: Tool) -> bool:
    """Whether the tool may be asked beside a call: it changes nothing, is as it was written, and is on."""
    return tool.effect == "pure" and genuine(tool) and not why_off(tool.workspace_id, tool.name)
