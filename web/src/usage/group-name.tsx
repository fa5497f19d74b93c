import { Id, UserText } from "../ui/index.ts";
import type { Grouping } from "./queries.ts";
import type { UsageGroup } from "./series.ts";

/** Names for the kinds of callers. A caller is written `<kind>:<id>`, for example `key:key_…`. */
const kinds: Readonly<Record<string, string>> = {
  token: "Agent token",
  key: "Key",
  trigger: "Trigger",
  user: "Member",
};

/** Returns the name of a group as one text. The name of a caller begins with its kind: "Key CI". */
export function groupText({ key, name }: Pick<UsageGroup, "key" | "name">, grouping: Grouping) {
  if (grouping !== "caller") return name ?? key;
  const [kind = "", id = ""] = key.split(":", 2);
  return `${kinds[kind] ?? kind} ${name ?? id}`.trim();
}

interface GroupNameProps {
  readonly group: UsageGroup;
  readonly grouping: Grouping;
}

/** The name of a group, with the colour that it has in the chart. */
export function GroupName({ group, grouping }: GroupNameProps) {
  const { key, name, tone } = group;
  const [kind = "", id = key] = grouping === "caller" ? key.split(":", 2) : ["", key];
  return (
    <span className="flex min-w-0 items-center gap-2">
      <span
        aria-hidden="true"
        data-keeps-colour
        className={`size-2.5 shrink-0 rounded-bar ${swatches[tone]}`}
      />
      {grouping === "caller" ? (
        <span className="shrink-0 text-ink-3">{kinds[kind] ?? kind}</span>
      ) : null}
      <span className="min-w-0 truncate">
        {name === null ? <Id value={id} /> : <UserText text={name} />}
      </span>
    </span>
  );
}

const swatches: Readonly<Record<UsageGroup["tone"], string>> = {
  1: "bg-chart-1",
  2: "bg-chart-2",
  3: "bg-chart-3",
  4: "bg-chart-4",
  5: "bg-chart-5",
  rest: "bg-edge",
};
