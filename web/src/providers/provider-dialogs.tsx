import type { Provider } from "@beckon/client";
import { AllowedDialog, lazyPart, useOpenedRow } from "../ui/index.ts";
import { DeleteDialog } from "./delete-dialog.tsx";
import { AddProvider } from "./form/add-provider.tsx";

const EditProvider = lazyPart(async () => (await import("./form/edit-provider.tsx")).EditProvider);

interface ProviderDialogsProps {
  readonly providers: readonly Provider[];
  readonly canWrite: boolean;
  /** The search parameters of the page, which name the open dialog. */
  readonly search: Readonly<Record<string, string | undefined>>;
  readonly close: () => void;
}

/**
 * The dialog that the search parameters name. It is shown only to people who can change providers.
 */
export function ProviderDialogs({ providers, canWrite, search, close }: ProviderDialogsProps) {
  const named = (id: string | undefined) =>
    providers.find((provider) => provider.id === id && provider.origin === "workspace");
  const edited = useOpenedRow(search.edit, named(search.edit));
  const deleted = named(search.delete);
  const opened = search.new ?? search.edit ?? search.delete;
  if (opened === undefined) return null;
  return (
    <AllowedDialog key={opened} isAllowed={canWrite}>
      <AddProvider open={search.new === "1"} preset={search.preset} close={close} />
      {edited === undefined ? null : (
        <EditProvider key={edited.id} provider={edited} close={close} />
      )}
      {deleted === undefined ? null : <DeleteDialog provider={deleted} close={close} />}
    </AllowedDialog>
  );
}
