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
  // The provider with which the form is filled in; after saving, the saved provider. It is kept in
  // the state, because `provider` also changes if somebody else saves it while the form is open.
  const [base, setBase] = useState(provider);
  const [isSaved, setSaved] = useState(false);
  if (!isSaved)
    return (
      <EditDialog
        provider={base}
        close={close}
        onSaved={(saved) => {
          setBase(saved);
          setSaved(true);
        }}
      />
    );
  return (
    <CheckDialog
      provider={base}
      title={`Saved ${base.name}`}
      edit={() => setSaved(false)}
      close={close}
    />
  );
}
