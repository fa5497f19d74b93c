/**
 * Definition of a metric. The types are:
 * - `counter`: only grows. The supervisor keeps what exited processes have counted.
 * - `histogram`: counts durations in seconds by size.
 * - `gauge`: read when metrics are collected. `combine` says how the values of several processes
 *   become one. A gauge with `database` is read by one process for all, at most every 10 seconds.
 */
interface Definition {
  readonly type: "counter" | "histogram" | "gauge";
  readonly help: string;
  /**
   * Names of the labels. A label has few values that Beckon defines. Never add one for a workspace,
   * an agent, a key, a model or a URL: each of its values would be a time series for ever.
   */
  readonly labels: readonly string[];
  readonly buckets?: readonly number[];
  readonly combine?: "sum" | "max";
  readonly database?: true;
}

const requestBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];
const longBuckets = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 900, 3_600];

/** All metrics of server processes. Names follow https://prometheus.io/docs/practices/naming/. */
export const metricDefinitions = {
  beckon_http_requests_total: {
    type: "counter",
    help: "Requests whose response has ended. The status is `disconnected` if none was begun.",
    labels: ["method", "route", "status"],
  },
  beckon_http_request_duration_seconds: {
    type: "histogram",
    help: "Time from the headers of a request to the end of its response, without streams.",
    labels: ["route"],
    buckets: requestBuckets,
  },
  beckon_http_streams: {
    type: "gauge",
    help: "Open event streams.",
    labels: [],
    combine: "sum",
  },
  beckon_events_held_back_seconds: {
    type: "gauge",
    help: "How long a transaction of any database of the PostgreSQL server has held back events from streams; 0 if none does.",
    labels: [],
    combine: "max",
  },
  beckon_credentials_rejected_total: {
    type: "counter",
    help: "Requests with a credential that is not valid, by kind.",
    labels: ["kind"],
  },
  beckon_runs_ended_total: {
    type: "counter",
    help: "Runs that have ended. The error code is empty if the run succeeded.",
    labels: ["status", "error_code"],
  },
  beckon_run_duration_seconds: {
    type: "histogram",
    help: "Time from the start of a run to its end, without the time in the queue.",
    labels: ["status"],
    buckets: longBuckets,
  },
  beckon_runs_resumed_total: {
    type: "counter",
    help: "Runs that a process resumed after another one: failovers, and restarts.",
    labels: [],
  },
  beckon_runs_executing: {
    type: "gauge",
    help: "Runs that the processes of this machine execute now.",
    labels: [],
    combine: "sum",
  },
  beckon_runs_capacity: {
    type: "gauge",
    help: "Runs that the processes of this machine can execute at the same time.",
    labels: [],
    combine: "sum",
  },
  beckon_runs_waiting: {
    type: "gauge",
    help: "Executing runs of this machine that wait, by reason: `provider` (it is down), `rate_limit` (the provider's), `limit` (other runs have reserved what is left of one), `memory` (the budget is used up, or the heap is full).",
    labels: ["reason"],
    combine: "sum",
  },
  beckon_runs_queued: {
    type: "gauge",
    help: "Runs in the queue, of the whole installation.",
    labels: [],
    database: true,
  },
  beckon_runs_running: {
    type: "gauge",
    help: "Runs that are executed, of the whole installation.",
    labels: [],
    database: true,
  },
  beckon_runs_queued_oldest_seconds: {
    type: "gauge",
    help: "Longest time that a run has been in the queue; 0 if the queue is empty.",
    labels: [],
    database: true,
  },
  beckon_model_calls_total: {
    type: "counter",
    help: "Attempts of model calls that have ended: answered, failed, lost without a complete answer, or unsent, for example because the connection was refused.",
    labels: ["outcome"],
  },
  beckon_model_call_duration_seconds: {
    type: "histogram",
    help: "Time of answered model calls, with their retries.",
    labels: [],
    buckets: longBuckets,
  },
  beckon_model_tokens_total: {
    type: "counter",
    help: "Tokens of model calls. `cached_input` is a part of `input`, `reasoning` of `output`.",
    labels: ["kind"],
  },
  beckon_tool_calls_total: {
    type: "counter",
    help: "Tool calls, by outcome.",
    labels: ["outcome"],
  },
  beckon_tool_call_duration_seconds: {
    type: "histogram",
    help: "Time of tool calls.",
    labels: [],
    buckets: longBuckets,
  },
  beckon_deliveries_total: {
    type: "counter",
    help: "Attempts of deliveries: succeeded, retry (failed, and will be repeated) or failed.",
    labels: ["outcome"],
  },
  beckon_delivery_duration_seconds: {
    type: "histogram",
    help: "Time of one attempt of a delivery.",
    labels: [],
    buckets: requestBuckets,
  },
  beckon_deliveries_pending: {
    type: "gauge",
    help: "Deliveries that are not finished, of the whole installation, at most 100,000.",
    labels: [],
    database: true,
  },
  beckon_deliveries_overdue_seconds: {
    type: "gauge",
    help: "How long the delivery that is overdue most should have been sent, without events and tests of subscriptions whose last attempt failed; events are not overdue while their receiver requests a delay; 0 if none is overdue.",
    labels: [],
    database: true,
  },
  beckon_limit_rejections_total: {
    type: "counter",
    help: "Runs that ended, and starts that were rejected without a run, because a plan or a ceiling allows no more, or needs a price, by error code.",
    labels: ["error_code"],
  },
  beckon_retention_rows_deleted_total: {
    type: "counter",
    help: "Rows that were deleted because they were older than their retention, by kind.",
    labels: ["kind"],
  },
  beckon_retention_last_pass_timestamp_seconds: {
    type: "gauge",
    help: "Unix time at which everything older than its retention was last deleted, except for rows whose deletion took too long; 0 if never.",
    labels: [],
    database: true,
  },
  beckon_database_connections: {
    type: "gauge",
    help: "Connections to PostgreSQL, by pool and state.",
    labels: ["pool", "state"],
    combine: "sum",
  },
  beckon_database_waiting: {
    type: "gauge",
    help: "Statements and transactions that wait for a connection, by pool.",
    labels: ["pool"],
    combine: "sum",
  },
  beckon_lease_failing: {
    type: "gauge",
    help: "Processes whose last renewal of their lease failed.",
    labels: [],
    combine: "sum",
  },
  beckon_lease_renewals_failed_total: {
    type: "counter",
    help: "Failed renewals of a process's lease.",
    labels: [],
  },
  beckon_processes_declared_dead_total: {
    type: "counter",
    help: "Processes that a process of this machine declared dead, because their lease expired.",
    labels: [],
  },
  beckon_processes_alive: {
    type: "gauge",
    help: "Processes with a valid lease, of the whole installation.",
    labels: [],
    database: true,
  },
  beckon_event_loop_lag_seconds: {
    type: "gauge",
    help: "Delay of the event loop since the last collection: 99th percentile, worst process.",
    labels: [],
    combine: "max",
  },
  beckon_heap_used_bytes: {
    type: "gauge",
    help: "Used heap of V8.",
    labels: [],
    combine: "sum",
  },
  beckon_heap_used_ratio: {
    type: "gauge",
    help: "Used heap as a part of its limit, of the worst process.",
    labels: [],
    combine: "max",
  },
  beckon_heap_full: {
    type: "gauge",
    help: "Processes whose heap is full, so that they start no runs and reject large requests.",
    labels: [],
    combine: "sum",
  },
  beckon_resident_memory_bytes: {
    type: "gauge",
    help: "Memory of the server processes, as the operating system counts it.",
    labels: [],
    combine: "sum",
  },
  beckon_cpu_seconds_total: {
    type: "counter",
    help: "CPU time of the server processes.",
    labels: [],
  },
  beckon_memory_held_bytes: {
    type: "gauge",
    help: "Memory that is reserved in the memory budget, by use.",
    labels: ["use"],
    combine: "sum",
  },
  beckon_memory_budget_bytes: {
    type: "gauge",
    help: "The memory budget, by use.",
    labels: ["use"],
    combine: "sum",
  },
  beckon_log_lines_dropped_total: {
    type: "counter",
    help: "Log lines that were dropped because nothing read standard output.",
    labels: [],
  },
} as const satisfies Record<string, Definition>;

/** Metrics of the supervisor itself. */
export const supervisorMetrics = {
  beckon_build_info: {
    type: "gauge",
    help: "1, with the version as a label.",
    labels: ["version"],
  },
  beckon_processes: {
    type: "gauge",
    help: "Server processes of this machine that accept requests.",
    labels: [],
  },
  beckon_processes_wanted: {
    type: "gauge",
    help: "Server processes that this machine should have: BECKON_PROCESSES.",
    labels: [],
  },
  beckon_processes_silent: {
    type: "gauge",
    help: "Server processes that did not report their metrics in time. Their last ones are used, except for what comes from the database.",
    labels: [],
  },
  beckon_process_exits_total: {
    type: "counter",
    help: "Server processes that exited while Beckon was not stopping.",
    labels: [],
  },
} as const satisfies Record<string, Definition>;

/** Returns whether this is the name of a gauge that one process reads from the database. */
export function isOfDatabase(name: string): boolean {
  const definitions: Readonly<Record<string, Definition>> = metricDefinitions;
  return definitions[name]?.database === true;
}

type Definitions = typeof metricDefinitions;
type NamesOf<Type> = {
  [Name in keyof Definitions]: Definitions[Name]["type"] extends Type ? Name : never;
}[keyof Definitions];

export type CounterName = NamesOf<"counter">;
export type HistogramName = NamesOf<"histogram">;
export type GaugeName = NamesOf<"gauge">;

/** The values of a metric's labels, in the order of its declaration. */
export type LabelValues<Name extends keyof Definitions> = Texts<Definitions[Name]["labels"]>;
type Texts<Names extends readonly unknown[]> = { readonly [Index in keyof Names]: string };
