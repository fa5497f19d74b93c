import { type Statement, statement, timeText } from "../base/database/index.ts";

/**
 * Returns SQL that selects a workspace event for each threshold (50, 80 or 100 percent) that a
 * budget had not reached before and has reached now.
 * @param reached name of a common table expression of budgets, with the columns workspace_id,
 *   scope_kind, scope_id and metric. The highest threshold that was reached before is was_crossed,
 *   and the highest one that is reached now is new_crossed (0: none). The columns new_spent,
 *   new_allowed and new_ends are shown in the event.
 */
export const selectThresholds = (reached: string): string => `
  select c.workspace_id, case when c.scope_kind = 'agent' then c.scope_id end as agent_id,
    new_id('evt') as id, 'usage.threshold' as type,
    jsonb_build_object('scope', c.scope_kind, 'scope_id', c.scope_id, 'metric', c.metric,
      'percent', t.percent, 'used', c.new_spent, 'limit', c.new_allowed, 'resets_at',
      ${timeText("c.new_ends")}) as data
  from ${reached} c join (values (50), (80), (100)) as t (percent)
    on t.percent > c.was_crossed and t.percent <= c.new_crossed
`;

/**
 * Reports limits as reached, because a model call did not fit into what is left of them: their
 * budgets count as crossed to 100 percent, and the events for the percentages that were not
 * reported yet are written. A later charge that reaches 100 percent reports nothing again. It must
 * be sent in the transaction that has locked the budgets, after `writeStatement`, with their ids.
 */
export type ReachedStatement = Statement<readonly number[]>;

/** @param insertWorkspaceEvents returns SQL that inserts events from the rows of `source`. */
export function createReachedStatement(
  insertWorkspaceEvents: (source: string) => string,
): ReachedStatement {
  return statement("reserve-reached", (p) => {
    const ids = p.value("bigint[]", (given) => given);
    return `
with reached as materialized (
  select b.*, b.crossed as was_crossed, 100 as new_crossed, b.spent as new_spent,
    b.allowed as new_allowed, b.ends as new_ends
  from budgets b where b.id = any (${ids}) and b.crossed < 100
), written_budgets as (
  update budgets b set crossed = 100 from reached r
  where b.id = r.id and b.id = any (array(select id from reached))
), thresholds as (${selectThresholds("reached")}), ${insertWorkspaceEvents("thresholds")}
select`;
  });
}
