import type { LimitReached } from "@beckon/contract";
import { type Database, isUniqueViolation } from "../../base/database/index.ts";
import type { KnownSubscriptions } from "../../events/index.ts";
import type { InitialStatus } from "../journal/index.ts";
import type { CheckResult } from "./admission-checks.ts";
import { type StartInput, statementFor } from "./start-statement.ts";

/** The agent, version, provider and trigger that the start statement found for a caller. */
export interface CallerState {
  readonly workspace_id: string;
  readonly agent_id: string;
  readonly version: number;
  readonly provider_stamp: string | null;
  readonly trigger_id: string | null;
  readonly prompt_prefix: string;
  /** Whether the workspace has a limit of money or usage; null means no. */
  readonly limited: boolean | null;
}

/**
 * Returns what an earlier call of the start statement wrote for the run; undefined if the run does
 * not exist. `status` is the one in which the run was created, with one exception: the caller
 * executes a run that is `running`, so it is `queued` if the run was claimed or has progressed
 * since that call, or if its owner was declared dead, because another process then executes the
 * run.
 */
export async function readStarted(
  database: Database,
  runId: string,
): Promise<(CallerState & { readonly status: InitialStatus }) | undefined> {
  const { rows } = await database.engine.query<CallerState & { readonly status: InitialStatus }>({
    name: "read-started",
    text: `select r.workspace_id, r.agent_id, i.agent_version as version,
        (select extract(epoch from p.updated_at)::text
          from agent_versions v join providers p on p.id = v.provider_id
          where v.agent_id = r.agent_id and v.version = i.agent_version) as provider_stamp,
        i.trigger_id, i.prompt_prefix,
        case when r.status = 'running' and r.fence = 1 and r.last_seq = 1
            and exists (select from processes p where p.id = r.owner and p.died_at is null)
          then 'running'
          else case (select e.type from events e where e.run_id = r.id and e.seq = 1)
            when 'run.failed' then 'failed' when 'run.waiting' then 'waiting' else 'queued' end
        end as status,
        exists (select from budgets b where b.workspace_id = r.workspace_id) as limited
      from runs r join run_inputs i on i.run_id = r.id where r.id = $1`,
    values: [runId],
  });
  return rows[0];
}

/** The result of the start statement: one entry for each request, and one for each caller. */
export interface CheckedStarts {
  readonly results: readonly CheckedRequest[];
  readonly callers: readonly (CallerState & { readonly caller: number })[];
}

/** The result for one request. `position` is its position in the batch, counted from 1. */
export type CheckedRequest = Positioned<
  | { readonly kind: "replay" | "repeated"; readonly replayed_run: string }
  | { readonly kind: "limit_reached" | "limit_paused"; readonly limit: LimitReached }
  | {
      readonly kind: InitialStatus;
      /** Whether the run's first model call was reserved. Default false. */
      readonly first_call_reserved?: boolean;
      /** Whether an amount of cost or tokens restricts the reserved call. Default false. */
      readonly first_call_restricted?: boolean;
    }
  | {
      readonly kind: Exclude<
        CheckResult,
        InitialStatus | "replay" | "repeated" | "limit_reached" | "limit_paused" | "subscribed"
      >;
    }
>;

type Positioned<Result> = Result & { readonly position: number };

/** What the start statement returns. */
interface Reply extends Pick<CheckedStarts, "callers"> {
  readonly results: readonly (CheckedRequest | Positioned<{ readonly kind: "subscribed" }>)[];
}

function isChecked(reply: Reply): reply is CheckedStarts {
  return reply.results.every(({ kind }) => kind !== "subscribed");
}

/**
 * Executes the start statement for a batch. If no subscription is known, the variant without the
 * part `deliveries` is sent first. If that statement finds a subscription, the batch is sent again
 * with the part.
 * @param options `resent`: whether an earlier call may already have written some of the rows.
 */
export async function sendStarts(
  database: Database,
  input: StartInput,
  options: { readonly resent: boolean; readonly subscriptions: KnownSubscriptions },
): Promise<CheckedStarts> {
  const { rows, callers } = input;
  const { subscriptions } = options;
  const hasFiles = rows.some(({ files = [] }) => files.length > 0);
  const send = async (resent: boolean, deliveries = subscriptions.some): Promise<CheckedStarts> => {
    const chosen = statementFor({
      triggers: callers.some((row) => row.source === "trigger" && row.caller.kind === "credential"),
      keys: rows.some((row) => row.key !== null),
      details: rows.some((row) => row.details !== undefined),
      labels: rows.some((row) => row.labels !== undefined),
      callbacks: rows.some((row) => row.callback !== undefined),
      limits: rows.some((row) => row.checksLimits === true),
      firstCalls: rows.some((row) => row.firstCallAmounts !== undefined),
      received: hasFiles || rows.some((row) => (row.received ?? row.senderEvent) !== undefined),
      files: hasFiles,
      deliveries,
      resent,
    });
    const { rows: replies } = await chosen.send<Reply>(database.engine, input);
    const [reply] = replies;
    if (reply === undefined) throw new Error("the start statement returned no row");
    if (isChecked(reply)) return reply;
    subscriptions.some = true;
    return send(resent, true);
  };
  try {
    return await send(options.resent);
  } catch (thrown) {
    if (!isUniqueViolation(thrown)) throw thrown;
    // An earlier call has written some of the rows, and it was committed after this statement had
    // taken its snapshot. The statement sees those rows when it is sent again.
    return await send(true);
  }
}
