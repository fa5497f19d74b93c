import type { VersionComparison } from "@beckon/client";

type FieldChange = VersionComparison["changes"][number];

/** Fields that are shown first. */
const first = ["/instructions", "/name", "/model", "/description"];

/**
 * Returns the changes with the most important fields first. A tool that was replaced by a tool of
 * another type is one change instead of one change for each of its fields.
 */
export function changesForReading(changes: readonly FieldChange[]): readonly FieldChange[] {
  const replaced = changes
    .map(({ path }) => /^(\/tools\/\d+)\/type$/.exec(path)?.[1])
    .filter((path) => path !== undefined);
  const isPart = ({ path }: FieldChange, tool: string) => path.startsWith(`${tool}/`);
  const whole = replaced.map((tool): FieldChange => {
    const parts = changes.filter((change) => isPart(change, tool));
    const side = (name: "before" | "after") =>
      Object.fromEntries(
        parts
          .filter((change) => change[name] !== undefined)
          .map((change) => [change.path.slice(tool.length + 1), change[name]]),
      );
    return { path: tool, before: side("before"), after: side("after") };
  });
  const others = changes.filter((change) => !replaced.some((tool) => isPart(change, tool)));
  const rank = ({ path }: FieldChange) =>
    first.includes(path) ? first.indexOf(path) : first.length;
  return [...others, ...whole].toSorted((one, other) => rank(one) - rank(other));
}
