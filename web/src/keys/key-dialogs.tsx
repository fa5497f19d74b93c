import type { Key } from "@beckon/client";
import { useQuery } from "@tanstack/react-query";
import { toServerTime, useWorkspace } from "../data/index.ts";
import { lazyPart } from "../ui/index.ts";
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
  const close = () => show({});
  if (search.new === "1" && can("keys:write")) return <NewKey close={close} />;
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
  const key = listed ?? read;
  const close = () => show({});
  if (key === undefined)
    return error === null ? null : <KeyDialog error={error} close={close} show={show} />;
  const canChange = whyFixed(key, workspace.can) === undefined;
  if (search.act === "edit" && canChange) return <EditKey apiKey={key} close={close} />;
  if (search.act === "rotate" && whyNotRotated(key, workspace.can, toServerTime()) === undefined)
    return <RotateKey apiKey={key} close={close} />;
  if (search.act === "delete" && canChange) return <DeleteKey apiKey={key} close={close} />;
  return <KeyDialog apiKey={key} close={close} show={show} />;
}
