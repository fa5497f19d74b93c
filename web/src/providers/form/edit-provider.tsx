import type { Provider } from "@beckon/client";
import { useState } from "react";
import { CheckDialog } from "./check-dialog.tsx";
import { EditDialog } from "./edit-dialog.tsx";

interface EditProviderProps {
  readonly provider: Provider;
  readonly close: () => void;
}

/** The dialog that changes a provider, and then checks it. */
export function EditProvider({ provider, close }: EditProviderProps) {
  const [saved, setSaved] = useState<Provider>();
  if (saved === undefined)
    return <EditDialog provider={provider} close={close} onSaved={setSaved} />;
  return (
    <CheckDialog
      provider={saved}
      title={`Saved ${saved.name}`}
      edit={() => setSaved(undefined)}
      close={close}
    />
  );
}
