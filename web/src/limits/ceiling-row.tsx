import type { Ceiling } from "@beckon/client";
import { EllipsisVertical, Pencil, Trash2 } from "lucide-react";
import { useWorkspace } from "../data/index.ts";
import { formatPrice, moneyBeside } from "../format/index.ts";
import { Badge, IconButton, Id, Menu, UserText } from "../ui/index.ts";
import { LimitState } from "./limit-state.tsx";
import { reasonUnchangeable, scopeLabels, scopeWords } from "./scopes.ts";

/** An action on a ceiling that opens a dialog. The URL contains the name of the action. */
type CeilingAct = "edit" | "delete";

interface CeilingRowProps {
  readonly ceiling: Ceiling;
  readonly onAct: (act: CeilingAct) => void;
}

/** A ceiling (a daily spending limit): the resource it applies to, and the amount left. */
export function CeilingRow({ ceiling, onAct }: CeilingRowProps) {
  const { scope, scope_id, name, pauses_agent } = ceiling;
  return (
    <li className="grid min-w-0 grid-cols-[minmax(0,1fr)_auto] items-center gap-x-4 gap-y-2 px-4 py-3 md:grid-cols-[minmax(0,2fr)_minmax(0,3fr)_auto]">
      <span className="flex min-w-0 items-center gap-2">
        <span className="shrink-0 text-ink-3">{scopeLabels[scope]}</span>
        <span className="min-w-0 truncate font-semibold">
          {name === null ? <Id value={scope_id} /> : <UserText text={name} />}
        </span>
        {pauses_agent ? <Badge>Pauses it</Badge> : null}
      </span>
      <div className="col-span-2 row-start-2 min-w-0 md:col-span-1 md:col-start-2 md:row-start-1">
        <LimitState
          used={ceiling.spent_micros}
          usedWord="spent"
          reserved={ceiling.reserved_micros}
          limit={ceiling.limit_micros}
          left={ceiling.left_micros}
          isReached={ceiling.reached}
          resetsAt={ceiling.resets_at}
          format={formatPrice}
          beside={moneyBeside}
        />
      </div>
      <span className="col-start-2 row-start-1 md:col-start-3">
        <CeilingMenu ceiling={ceiling} onAct={onAct} />
      </span>
    </li>
  );
}

function CeilingMenu({ ceiling, onAct }: CeilingRowProps) {
  const { whyNot } = useWorkspace();
  const label = `More about the ceiling of ${scopeWords(ceiling)}`;
  const disabledReason = whyNot("limits:write");
  return (
    <Menu
      label={label}
      trigger={<IconButton icon={EllipsisVertical} label={label} size="small" tooltip={false} />}
      items={
        disabledReason === undefined
          ? [
              {
                label: "Raise or lower",
                icon: Pencil,
                onSelect: () => onAct("edit"),
                disabledReason: reasonUnchangeable(ceiling),
              },
              "separator",
              { label: "Delete", icon: Trash2, danger: true, onSelect: () => onAct("delete") },
            ]
          : [{ label: "Raise, lower, delete", disabledReason }]
      }
    />
  );
}
