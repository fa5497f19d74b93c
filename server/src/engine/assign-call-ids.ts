import type { AnswerPart } from "@beckon/contract";

/**
 * Matches call ids that Beckon uses unchanged: printable ASCII without spaces. The id becomes part
 * of the call's idempotency key, which is sent as a header value.
 */
const validId = /^[\x21-\x7e]{1,128}$/;

/**
 * Gives each tool call of a step an id that is unique in its run. Keeps the provider's id if
 * possible, because some providers accept only ids in their own format when the conversation is
 * sent back. A repeated id gets a numeric suffix, and an invalid id is replaced.
 *
 * @param usedIds ids of the run's earlier calls.
 */
export function assignCallIds(
  parts: readonly AnswerPart[],
  step: number,
  usedIds: Iterable<string>,
): AnswerPart[] {
  const used = new Set(usedIds);
  // An answer can have a hundred thousand calls with the same id. Without this map, the time for
  // them would grow with the square of their number.
  const nextNumbers = new Map<string, number>();
  return parts.map((part, position) => {
    if (part.type !== "tool_call") return part;
    const preferred = validId.test(part.call_id) ? part.call_id : `call_${step}_${position + 1}`;
    let id = preferred;
    let number = nextNumbers.get(preferred) ?? 2;
    for (; used.has(id); number += 1) id = `${preferred}-${number}`;
    if (id !== preferred) nextNumbers.set(preferred, number);
    used.add(id);
    return id === part.call_id ? part : { ...part, call_id: id };
  });
}
