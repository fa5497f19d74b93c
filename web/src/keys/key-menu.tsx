import type { Key } from "@beckon/client";
import { EllipsisVertical, Pencil, RotateCw, Trash2 } from "lucide-react";
import { useWorkspace } from "../data/index.ts";
import { IconButton, Menu, useNow } from "../ui/index.ts";
import { whyFixed, whyNotRotated } from "./permission.ts";

/** An action on a key that opens a dialog. The URL contains the name of the action. */
export type KeyAct = "edit" | "rotate" | "delete";

interface KeyMenuProps {
  readonly apiKey: Key;
  readonly onAct: (act: KeyAct) => void;
}

/** The menu with the actions on a key. */
export function KeyMenu({ apiKey, onAct }: KeyMenuProps) {
  const workspace = useWorkspace();
  const now = useNow();
  const fixed = whyFixed(apiKey, workspace);
  const label = `More about ${apiKey.name}`;
  const rotate = {
    label: "Rotate",
    icon: RotateCw,
    onSelect: () => onAct("rotate"),
    disabledReason: whyNotRotated(apiKey, workspace, now),
  };
  return (
    <span className="relative z-1 inline-flex align-middle">
      <Menu
        label={label}
        trigger={<IconButton icon={EllipsisVertical} label={label} size="small" tooltip={false} />}
        items={
          fixed === undefined
            ? [
                { label: "Edit", icon: Pencil, onSelect: () => onAct("edit") },
                rotate,
                "separator",
                { label: "Delete", icon: Trash2, danger: true, onSelect: () => onAct("delete") },
              ]
            : [{ label: "Edit, rotate, delete", disabledReason: fixed }]
        }
      />
    </span>
  );
}
