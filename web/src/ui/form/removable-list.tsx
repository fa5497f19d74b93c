import { X } from "lucide-react";
import { IconButton } from "../action/icon-button.tsx";
import { useFormPending } from "./form-pending.ts";

interface RemovableListProps {
  /** Accessible name of the list: "Chosen triggers of other agents". */
  readonly label: string;
  /** What an item is, in the names of the buttons: "trigger". */
  readonly noun: string;
  readonly ids: readonly string[];
  readonly nameOf: (id: string) => string;
  readonly onRemove: (id: string) => void;
}

/** Chosen things that have no checkbox, each with a button that removes it from the choice. */
export function RemovableList({ label, noun, ids, nameOf, onRemove }: RemovableListProps) {
  const isPending = useFormPending();
  if (ids.length === 0) return null;
  return (
    <ul aria-label={label} className="flex flex-wrap gap-2">
      {ids.map((id) => (
        <li
          key={id}
          className="inline-flex max-w-full items-center gap-1 rounded-control border border-rule pl-2"
        >
          <bdi className="truncate">{nameOf(id)}</bdi>
          <IconButton
            icon={X}
            size="small"
            label={`Remove the ${noun} ${nameOf(id)}`}
            onClick={() => onRemove(id)}
            disabled={isPending}
          />
        </li>
      ))}
    </ul>
  );
}
