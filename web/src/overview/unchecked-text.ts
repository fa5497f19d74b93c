import { formatCount } from "../format/index.ts";
import { maxAgents } from "../runs/index.ts";
import type { Condition } from "./attention.ts";
import { maxChecked } from "./queries.ts";

type Read = Pick<Condition, "providers" | "ceilings" | "agents">;

/** Returns a sentence if there can be more than was read and checked; otherwise an empty string. */
export function uncheckedText({ providers = [], ceilings = [], agents }: Read): string {
  const kinds = [
    { noun: "providers", count: providers.length, max: maxChecked },
    { noun: "ceilings", count: ceilings.length, max: maxChecked },
    { noun: "agents", count: agents.size, max: maxAgents },
  ];
  const incomplete = kinds.filter(({ count, max }) => count >= max);
  const words = incomplete.map(({ noun, max }) => `${formatCount(max)} ${noun}`).join(" and ");
  return words === "" ? "" : `Only the first ${words} were checked.`;
}
