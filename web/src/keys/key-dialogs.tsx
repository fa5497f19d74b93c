import type { Key } from "@beckon/client";
import { useQuery } from "@tanstack/react-query";
import { type CurrentWorkspace, isNotFound, toServerTime, useWorkspace } from "../data/index.ts";
import { AllowedDialog, lazyPart, useEverTrue, useOpenedRow } from "../ui/index.ts";
import { DeleteKey } from "./delete-key.tsx";
import { KeyDialog } from "./key-dialog.tsx";
import { whyFixed, whyNotRotated } from "./permission.ts";
import { keyQuery } from "./queries.ts";
import { RotateKey } from "./rotate-key.tsx";

const NewKey = lazyPart(async () => (await import("./form/new-key.tsx")).NewKey);
const EditKey = lazyPart(async () => (await import("./form/edit-key.tsx")).EditKey);

interface KeyDialogsProps {
  /** The keys that the list has loaded. */
  readonly rows: readonly Key[];
  /** The search parameters of the page, which name the open dialog. */
  readonly search: Readonly<Record<string, string | undefined>>;
  readonly show: (search: Readonly<Record<string, string>>) => void;
}

/** The dialog that the search parameters name. */
export function KeyDialogs({ rows, search, show }: KeyDialogsProps) {
  const { can } = useWorkspace();
  if (search.new === "1")
    return (
      <AllowedDialog isAllowed={can("keys:write")}>
        <NewKey close={() => show({})} />
      </AllowedDialog>
    );
  if (search.key === undefined) return null;
  return <OneKey key={search.key} id={search.key} rows={rows} search={search} show={show} />;
}

function OneKey({ id, rows, search, show }: KeyDialogsProps & { readonly id: string }) {
  const workspace = useWorkspace();
  const listed = rows.find((row) => row.id === id);
  // The key is read on its own if a link names a key that is not in the loaded rows.
  const { data: read, error } = useQuery({
    ...keyQuery(workspace, id),
    enabled: listed === undefined,
  });
  const key = useOpenedRow(id, listed ?? read);
  const isGone = listed === undefined && isNotFound(error);
  const { act } = search;
  if (key === undefined || (isGone && act === undefined))
    return error === null ? null : <KeyDialog error={error} close={() => show({})} show={show} />;
  return <OpenedKey key={act} apiKey={key} act={act} show={show} />;
}

interface OpenedKeyProps extends Pick<KeyDialogsProps, "show"> {
  readonly apiKey: Key;
  readonly act: string | undefined;
}

function OpenedKey({ apiKey, act, show }: OpenedKeyProps) {
  const workspace = useWorkspace();
  const isAllowed = useEverTrue(isActAllowed(act, apiKey, workspace));
  const close = () => show({});
  if (isAllowed && act === "edit") return <EditKey apiKey={apiKey} close={close} />;
  if (isAllowed && act === "rotate") return <RotateKey apiKey={apiKey} close={close} />;
  if (isAllowed && act === "delete") return <DeleteKey apiKey={apiKey} close={close} />;
  return <KeyDialog apiKey={apiKey} close={close} show={show} />;
}

function isActAllowed(act: string | undefined, key: Key, workspace: CurrentWorkspace): boolean {
  const reason =
    act === "rotate" ? whyNotRotated(key, workspace, toServerTime()) : whyFixed(key, workspace);
  return reason === undefined;
}
