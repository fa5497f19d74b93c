import type { Provider } from "@beckon/client";
import { useState } from "react";
import { AddForm } from "./add-form.tsx";
import { CheckDialog } from "./check-dialog.tsx";
import { EditDialog } from "./edit-dialog.tsx";

interface AddProviderDialogProps {
  readonly close: () => void;
  readonly onAdded?: ((provider: Provider) => void) | undefined;
  readonly preset?: string | undefined;
}

/** Adds a provider, checks it, and lets the person correct it until it works. */
export function AddProviderDialog({ close, onAdded, preset }: AddProviderDialogProps) {
  const [added, setAdded] = useState<Provider>();
  const [isEditing, setEditing] = useState(false);
  if (added === undefined) return <AddForm preset={preset} close={close} onCreated={setAdded} />;
  if (isEditing)
    return (
      <EditDialog
        provider={added}
        close={(last) => {
          setAdded(last);
          setEditing(false);
        }}
        onSaved={(saved) => {
          setAdded(saved);
          setEditing(false);
        }}
      />
    );
  return (
    <CheckDialog
      provider={added}
      title={`Added ${added.name}`}
      edit={() => setEditing(true)}
      close={() => {
        close();
        onAdded?.(added);
      }}
    />
  );
}
