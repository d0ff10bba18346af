"""What is taken for granted about Probe's SDK (probe-research 0.337.0): the one place, held to it by a contract test.

The SDK changes often. Code elsewhere names nothing of it but through here; `tests/test_sdk_contract.py` checks every
line against the installed SDK, and names the line that no longer holds.
"""

from __future__ import annotations

#: The distribution. `probe` and `probe-agent` on the index belong to others.
PACKAGE = "probe-research"
#: The oldest release that all this was seen to hold for.
MINIMUM = "0.337"
REQUIREMENT = f"{PACKAGE}>={MINIMUM}"
#: The name that is imported.
IMPORT = "probe"
#: The SDK runs on these Pythons only; elsewhere the generated module is off.
MINIMUM_PYTHON = (3, 10)

# -- calls ----------------------------------------------------------------------------------------------------------

#: Keywords of `probe.init` (all are keyword-only) that code of ours may pass.
INIT_KEYWORDS = frozenset(
    "name config tags notes description project experiment question mode reinit external_id on_conflict intent "
    "metadata group_id capture_reads capture_outputs snapshot".split()
)
#: Keywords of W&B's `init` that raise when they are passed to `probe.init`.
INIT_REFUSES = frozenset("entity id group job_type resume dir settings save_code sync_tensorboard".split())
#: The only keyword that says something about a run that was joined through PROBE_RUN_ID.
INIT_JOINED = frozenset({"config", "capture_reads", "capture_outputs"})
#: Keywords of `probe.log(metrics, *, ...)`.
LOG_KEYWORDS = frozenset("step commit kind wall_clock dimensions labels".split())
#: What `probe` offers beside them.
CALLS = ("init", "log", "finish", "active_run", "update_config", "log_artifact")
#: What `probe.finish` takes as status.
STATUSES = ("completed", "failed", "canceled")

# -- environment ----------------------------------------------------------------------------------------------------

TOKEN = "PROBE_TOKEN"
BASE_URL = "PROBE_BASE_URL"
RUN_ID = "PROBE_RUN_ID"
RUN_EPOCH = "PROBE_RUN_EPOCH"
MODE = "PROBE_MODE"
OUTBOX_DIR = "PROBE_OUTBOX_DIR"
INGEST_TOKEN = "PROBE_INGEST_TOKEN"
HMAC_SECRET = "PROBE_HMAC_SECRET"
#: A token that starts so belongs to one run and joins it, as RUN_ID does.
RUN_TOKEN_PREFIX = "probe_run_"
#: What must reach a process for it to record; everything else has a default.
FORWARDED = (TOKEN, BASE_URL, RUN_ID, RUN_EPOCH, MODE)
#: Set by generated code where the environment does not: the SDK's own defaults are 90 s, 600 s, raise, a login in the
#: browser that may take 600 s, and an upload of the working folder's files that `init` waits for (17 s were seen).
DEFAULTS = {
    "PROBE_INIT_TIMEOUT_SEC": "10",
    "PROBE_FINISH_TIMEOUT_SEC": "30",
    "PROBE_INIT_FALLBACK": "offline",
    "PROBE_AUTO_LOGIN": "0",
    "PROBE_AUTO_SNAPSHOT": "0",
}

# -- doors ----------------------------------------------------------------------------------------------------------

HF_CALLBACK = "probe.integrations.huggingface.ProbeCallback"
LIGHTNING_LOGGER = "probe.integrations.lightning.ProbeLogger"
MILES_BACKEND = "probe.integrations.miles.ProbeBackend"
MILES_REGISTER = "probe.connectors.miles.register"
MILES_PER_SAMPLE = "probe.connectors.miles.per_sample_rollout_log"
WANDB_IMPORT = "probe.connectors.wandb.import_local_runs"

# -- the offline record ---------------------------------------------------------------------------------------------

#: Below the outbox folder: one folder a run, named by its creation key.
OFFLINE_FOLDER = "offline"
#: Says what a run's folder is: name, project, experiment.
MANIFEST = "offline.json"
MANIFEST_SCHEMA = "probe.offline/1"
#: One file a write, in the order of their names.
OPS_FOLDER = "ops"
OPS_SCHEMA = "probe.outbox/1"
#: `kind` of the first write, whose `create.body` has name, config and tags.
CREATE_KIND = "create_run"
#: How the path of a write with points ends; the body has `points: [{key, step_index, value, wall_clock, ...}]`.
METRICS_PATH = "/metrics"
#: ... with what is not a number.
STEPS_PATH = "/steps"
#: `METRICS_PATH` belongs to `/v1/runs/<id>`; the body of a write of finished curves has these beside `points`.
DERIVED_BODY = ("origin", "points", "provenance")
#: What one point may say.
POINT_FIELDS = ("key", "kind", "value", "step_index", "wall_clock", "labels")
#: Points that one write takes.
POINTS_MAXIMUM = 50_000
#: The client of an opened run, whose `write(method, path, body, strict=)` sends or queues.
RUN_CLIENT = "_client"
#: Module and function that let its scrubber remember texts it has seen (it costs 60 microseconds a text otherwise).
SCRUB_CACHE = ("probe.sdk.redaction", "enable_scrub_cache")

# -- passive push -----------------------------------------------------------------------------------------------------

#: `Client.ingest`: one request, idempotent by customer (of the token), `run.source`, `run.external_id`; a batch by id.
DEFAULT_BASE_URL = "https://api.research.prbe.ai"
INGEST_PATH = "/ingest/v1/runs"
INGEST_FIELDS = ("experiment_slug", "project_slug", "run", "batch_id", "spans", "metrics", "artifacts")
INGEST_RUN_FIELDS = (
    "external_id", "name", "source", "status", "config", "tags", "metadata", "notes", "foreign_keys", "started_at",
    "ended_at", "summary_metrics", "parent_external_id",
)  # fmt: skip
SIGNATURE_HEADER = "X-Signature"
