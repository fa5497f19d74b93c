import type { AnswerPart } from "@beckon/contract";

/** What any provider takes back as an id, and what may stand in a header as part of an idempotency key. */
const usable = /^[\x21-\x7e]{1,128}$/;

/**
 * Gives each tool call of a step an id that is unique in its run. The provider's own id is kept where it can be (some accept
 * only their own form back); a repeated one gets a number, an unusable one is replaced. The model is shown the ids of the
 * journal in its calls and in their results alike, so that the two always match.
 */
export function nameCalls(
  parts: readonly AnswerPart[],
  step: number,
  taken: Iterable<string>,
): AnswerPart[] {
  const used = new Set(taken);
  return parts.map((part, position) => {
    if (part.type !== "tool_call") return part;
    const wanted = usable.test(part.call_id) ? part.call_id : `call_${step}_${position + 1}`;
    let id = wanted;
    for (let number = 2; used.has(id); number += 1) id = `${wanted}-${number}`;
    used.add(id);
    return id === part.call_id ? part : { ...part, call_id: id };
  });
}
