"""Every command: its name, where it lives, and what it says of itself in the help of the whole."""

from __future__ import annotations

from askfew.cli.lazy import LazyCommand

__all__ = ["COMMANDS"]

_ALONE = {
    "demo": (
        "demo:demo",
        "Two stories: what is asked, what it finds, what it costs; groups of equals, and a rule.",
    ),
    "simulate": (
        "simulate:simulate",
        "Run one method many times on simulated problems: what it costs and how often it errs.",
    ),
    "bench": (
        "bench:bench",
        "Measure answers, errors and time of every method on every instance, beside one another.",
    ),
    "paper": (
        "paper:paper",
        "Run one of the paper's experiments: CSV, figure (PNG and SVG), and a JSON of particulars.",
    ),
    "plan": (
        "plan:plan",
        "Forecast answers and money before the first answer, over what you do not know.",
    ),
    "calibrate": (
        "calibrate:calibrate",
        "Simulate many campaigns with your numbers: does the promise hold, and what do they cost?",
    ),
    "certify": (
        "certify:certify",
        "Sort new items by a rule that is there already, with a certificate about it.",
    ),
    "bounds": (
        "bounds:bounds",
        "What any method must pay, and what the paper's method may, on the problems of simulate.",
    ),
}
_CAMPAIGNS = {
    "new": ("new:new", "Create a campaign folder to fill in."),
    "create": (
        "campaigns.create:create",
        "Create a campaign from its folder, with its first questions open.",
    ),
    "list": ("campaigns.listing:list_campaigns", "List the campaigns of a store, oldest first."),
    "status": (
        "campaigns.status:status",
        "Say where a campaign stands: phase and why, answers, money, workers, what is left.",
    ),
    "ask": (
        "campaigns.ask:ask",
        "Hand out questions to a worker, to be told or skipped by their id.",
    ),
    "tell": ("campaigns.tell:tell", "Answer a question; telling it twice counts once."),
    "skip": ("campaigns.skip:skip", "Give a question back unanswered: someone else is asked."),
    "result": (
        "campaigns.result:result",
        "Show the groups found, or so far: certified labels, and a guess for every other item.",
    ),
    "report": (
        "campaigns.report:report",
        "Write a campaign's report as one self-contained HTML file.",
    ),
    "export": (
        "campaigns.export:export",
        "Write answers, open questions or a whole campaign to a file.",
    ),
    "import": (
        "campaigns.importing:import_file",
        "Read answers to open questions from a file, or a whole campaign.",
    ),
    "workers": (
        "campaigns.workers:workers",
        "List who has come to a campaign or was invited: answers, questions held, who was revoked.",
    ),
    "revoke": (
        "campaigns.workers:revoke",
        "Ask a worker no more: what they hold goes to others, what they answered counts.",
    ),
    "pause": (
        "campaigns.switches:pause",
        "Hand out nothing until resumed; answers on their way are still taken.",
    ),
    "resume": ("campaigns.switches:resume", "Go on with a paused campaign."),
    "close": (
        "campaigns.switches:close",
        "End a campaign for good, with what is known; there is no certificate then.",
    ),
    "doctor": (
        "campaigns.doctor:doctor",
        "Check a store: replay every campaign, and count its answers again.",
    ),
    "serve": (
        "campaigns.serve:serve",
        "Serve pages and the HTTP API over the campaigns of a store.",
    ),
    "store": (
        "campaigns.store:store_app",
        "Look after the database that holds the campaigns.",
    ),
    "work": (
        "work:work_app",
        "Answer a campaign: an LLM, a Python function, a simulated crowd.",
    ),
    "token": (
        "campaigns.token:token_app",
        "Look after the token that the owner of a store logs in with.",
    ),
}

COMMANDS: dict[str, LazyCommand] = {
    **{name: LazyCommand(name, *about) for name, about in _ALONE.items()},
    **{name: LazyCommand(name, *about, panel="Campaigns") for name, about in _CAMPAIGNS.items()},
}
"""By name, in the order of the help."""
