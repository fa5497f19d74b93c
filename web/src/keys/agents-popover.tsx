import type { Key } from "@beckon/client";
import { formatCounted } from "../format/index.ts";
import { Popover } from "../ui/index.ts";
import { useNameOf } from "./use-name-of.ts";
import { ValueButton } from "./value-button.tsx";

/** The agents that a key is limited to. */
export function AgentsPopover({ apiKey }: { readonly apiKey: Key }) {
  const { agent } = useNameOf();
  const { agent_ids: ids, name } = apiKey;
  if (ids === null) return <span className="text-ink-2">All</span>;
  const [only] = ids;
  const text =
    ids.length === 1 && only !== undefined ? agent(only) : formatCounted(ids.length, "agent");
  return (
    <Popover
      label={`Agents of ${name}`}
      trigger={<ValueButton label={`Agents of ${name}: ${text}`}>{text}</ValueButton>}
    >
      <ul className="flex flex-col gap-1 p-1">
        {ids.map((id) => (
          <li key={id} className="break-words">
            <bdi>{agent(id)}</bdi>
          </li>
        ))}
      </ul>
    </Popover>
  );
}
