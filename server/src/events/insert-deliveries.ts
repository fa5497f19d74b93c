import { deliveredEvent, endKinds, eventVersion } from "@beckon/contract";

const literals = (types: readonly string[]) => types.map((type) => `'${type}'`).join(", ");

/** SQL lists of the run events that can be delivered, and of those that end a run. */
const deliveredRunEvents = literals(
  deliveredEvent.options.filter((type) => type.startsWith("run.")),
);
const finalRunEvents = literals(endKinds);

/**
 * SQL condition that is true if any workspace has a subscription. PostgreSQL evaluates it at most
 * once per statement, in the statement's snapshot.
 */
export const someSubscriptions =
  "(select exists (select from subscriptions where deleted_at is null))";

/**
 * Returns SQL that joins an event `e` with the subscriptions `s` of its workspace, and with the
 * kinds `k` of the deliveries that a subscription gets: those whose condition holds. The subquery
 * is lateral and has a limit, so that PostgreSQL uses the index, regardless of the size that the
 * table had when the statement was planned. The limit is never reached: a workspace can have at
 * most 50 subscriptions (`maxSubscriptions`).
 */
function withKinds(conditions: { readonly event: string; readonly callback?: string }): string {
  const kinds = Object.entries(conditions);
  return `cross join lateral (
    select s.id, s.status, s.payload,
      ${kinds.map(([kind, condition]) => `${condition} as is_${kind}`).join(",\n      ")}
    from subscriptions s
    where s.workspace_id = e.workspace_id and s.deleted_at is null limit 1000
  ) s join (values ${kinds.map(([kind]) => `('${kind}')`).join(", ")}) as k (kind)
    on case k.kind ${kinds.map(([kind]) => `when '${kind}' then s.is_${kind}`).join(" ")} end`;
}

const columns = `id, workspace_id, subscription_id, kind, event_id, type, version, agent_id, run_id,
    seq, data, callback_url, status, next_at, finished_at`;

/**
 * SQL of a delivery's id. It depends only on the event, the subscription and the kind, so the
 * primary key allows one delivery of each kind. It begins with the time in the event's id, so that
 * ids are sorted by the time of the event.
 */
const deliveryId =
  "'dlv_' || substr(e.id, 5, 10) || " +
  "lpad(to_hex(hashtextextended(e.id || s.id || k.kind, 0)), 16, '0')";

/** Returns SQL of the values of `columns`, for the rows of `withKinds`. */
const values = ({
  runId,
  seq,
  callbackUrl,
}: Readonly<Record<"runId" | "seq" | "callbackUrl", string>>) => `${deliveryId},
    e.workspace_id, s.id, k.kind, e.id, e.type, ${eventVersion}, e.agent_id, ${runId}, ${seq},
    case when s.status = 'enabled' and s.payload = 'full' then e.data end, ${callbackUrl},
    case when s.status = 'enabled' then 'pending' else 'not_sent' end,
    case when s.status = 'enabled' then now() end,
    case when s.status <> 'enabled' then now() end`;

/**
 * Where the SQL of `insertRunDeliveries` reads what it needs about the run of an event:
 * - `tables`: in the tables of runs.
 * - `columns`: in columns of the common table expression that has the events. A statement that also
 *   inserts the runs needs this, because it cannot see the rows that it inserts into the tables. A
 *   statement that has read the properties for another purpose uses it to read them only once.
 */
type FactSource = "tables" | "columns";

/** Where the SQL of `insertRunDeliveries` reads what it needs about the runs. */
export interface RunFacts {
  /**
   * Where it reads the properties of the run by which subscriptions filter: in `run_inputs`, or in
   * the columns run_source, trigger_id and tags.
   */
  readonly run: FactSource;
  /**
   * Where it reads the run's callback: in `run_callbacks`, or in the columns
   * callback_subscription_id and callback_url. `none`: no run has one.
   */
  readonly callback: FactSource | "none";
}

/**
 * Returns SQL that inserts deliveries of run events: one for each subscription that selects the
 * event, and one for the callback of a run that ends. Draft runs have no deliveries.
 * @param source name of a common table expression with the events, as in `insertEvents`.
 */
export function insertRunDeliveries(source: string, { run, callback }: RunFacts): string {
  const i = run === "columns" ? "e" : "i";
  const c = callback === "columns" ? "e" : "c";
  return `run_deliveries as (
  insert into deliveries (${columns})
  select ${values({
    runId: "e.run_id",
    seq: "e.seq",
    callbackUrl:
      callback === "none" ? "null" : `case k.kind when 'callback' then ${c}.callback_url end`,
  })}
  from ${source} e${run === "tables" ? fromInputs : ""}${callback === "tables" ? fromCallbacks : ""}
  ${withKinds({
    event: `e.type = any (s.event_types)
        and (s.agent_ids is null or e.agent_id = any (s.agent_ids))
        and (s.trigger_ids is null or ${i}.trigger_id = any (s.trigger_ids))
        and (s.tags is null or ${i}.tags && s.tags)`,
    ...(callback === "none"
      ? {}
      : { callback: `s.id = ${c}.callback_subscription_id and e.type in (${finalRunEvents})` }),
  })}
  where ${
    // Without a subscription, this condition avoids looking up the run of each event. If runs are
    // not looked up, it costs more than it saves.
    run === "tables" ? `${someSubscriptions} and ` : ""
  }e.type in (${deliveredRunEvents}) and ${i}.run_source <> 'draft'
)`;
}

const fromInputs = `
  cross join lateral (
    select i.source as run_source, i.trigger_id, i.tags from run_inputs i
    where i.run_id = e.run_id and i.workspace_id = e.workspace_id limit 1
  ) i`;
const fromCallbacks = `
  left join lateral (
    select c.subscription_id as callback_subscription_id, c.url as callback_url from run_callbacks c
    where c.run_id = e.run_id and c.workspace_id = e.workspace_id and e.type in (${finalRunEvents})
    limit 1
  ) c on true`;

/**
 * Returns SQL that inserts deliveries of workspace events. A subscription to some agents gets only
 * events about these agents, and a subscription to the runs of some triggers or tags gets none.
 * @param source name of a common table expression with the events, as in `insertWorkspaceEvents`.
 */
export function insertWorkspaceDeliveries(source: string): string {
  return `workspace_deliveries as (
  insert into deliveries (${columns})
  select ${values({ runId: "null", seq: "null::int", callbackUrl: "null" })}
  from ${source} e
  ${withKinds({
    event: `e.type = any (s.event_types)
        and (s.agent_ids is null or e.agent_id = any (s.agent_ids))
        and s.trigger_ids is null and s.tags is null`,
  })}
  where ${someSubscriptions}
)`;
}
