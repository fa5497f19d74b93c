import type { Parts } from "./start-parts.ts";

/**
 * Returns SQL that selects those rows of the start statement's `checked` whose runs would exceed a
 * limit of runs in `status`. The rows are counted in the order of the batch. At most one run starts
 * for an Idempotency-Key or an event id, so a row that has either in common with an earlier row
 * counts as the first row with that key or event id does.
 * @param columns SQL expressions over `checked`. `owner`: what the limit belongs to. `earlier`: the
 *   number of runs that the snapshot has. `max`: the limit.
 */
export function overLimit(
  { keys, received }: Parts,
  status: "queued" | "waiting",
  { owner, earlier, max }: { owner: string; earlier: string; max: string | number },
): string {
  const first = (columns: string, isShared: string) =>
    `case when ${isShared} then min(position) over (partition by ${columns}) end`;
  const positions = [
    ...(keys ? [first("scope, key", "key is not null")] : []),
    ...(received ? [first("trigger_id, sender_event", "sender_event is not null")] : []),
    "position",
  ];
  return `select run_id from (
    select run_id, earlier + dense_rank() over (partition by owner_id order by first_position)
      > maximum as is_over
    from (
      select run_id, ${owner} as owner_id, ${earlier} as earlier, ${max} as maximum,
        least(${positions.join(",\n          ")}) as first_position
      from checked where check_result = 'start' and status = '${status}'
    ) as counted
  ) as ranked where is_over`;
}
