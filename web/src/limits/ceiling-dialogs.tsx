import type { Ceiling } from "@beckon/client";
import { useWorkspace } from "../data/index.ts";
import { AllowedDialog, Dialog, Problem, useOpenedRow } from "../ui/index.ts";
import { CeilingForm } from "./ceiling-form.tsx";
import { DeleteCeiling } from "./delete-ceiling.tsx";
import { type CeilingScope, scopeNames } from "./scopes.ts";
import { useCeiling } from "./use-ceiling.ts";

interface CeilingDialogsProps {
  /** The ceilings (daily spending limits) that the list has loaded. */
  readonly rows: readonly Ceiling[];
  /** The search parameters of the page. `ceiling` names the open dialog. */
  readonly search: Readonly<Record<string, string | undefined>>;
  readonly close: () => void;
}

/** The dialog that the URL names. It is shown only to people who can change ceilings. */
export function CeilingDialogs(props: CeilingDialogsProps) {
  const { can } = useWorkspace();
  const { ceiling } = props.search;
  if (ceiling === undefined) return null;
  return (
    <AllowedDialog key={ceiling} isAllowed={can("limits:write")}>
      <NamedDialog {...props} />
    </AllowedDialog>
  );
}

function NamedDialog({ rows, search, close }: CeilingDialogsProps) {
  if (search.ceiling === "new") return <CeilingForm rows={rows} close={close} />;
  const [scope = "", scopeId = ""] = (search.ceiling ?? "").split(":");
  if (!isScope(scope) || scopeId === "") return null;
  return (
    <OneCeiling
      scope={scope}
      scopeId={scopeId}
      isDeleting={search.act === "delete"}
      rows={rows}
      close={close}
    />
  );
}

interface OneCeilingProps {
  readonly scope: CeilingScope;
  readonly scopeId: string;
  readonly isDeleting: boolean;
  readonly rows: readonly Ceiling[];
  readonly close: () => void;
}

function OneCeiling({ scope, scopeId, isDeleting, rows, close }: OneCeilingProps) {
  const { ceiling: current, error, refetch } = useCeiling(rows, { scope, scopeId });
  // If the ceiling leaves the list, it is not known for a moment whether it still exists.
  const ceiling = useOpenedRow(`${scope}:${scopeId}`, current);
  if (ceiling === undefined)
    return error === null ? null : (
      <Dialog open onOpenChange={close} size="small" title="Ceiling">
        <Problem error={error} title="The ceiling could not be loaded." onRetry={refetch} />
      </Dialog>
    );
  if (ceiling === null)
    return isDeleting ? null : (
      <CeilingForm rows={rows} initial={{ scope, scopeId }} close={close} />
    );
  return isDeleting ? (
    <DeleteCeiling ceiling={ceiling} close={close} />
  ) : (
    <CeilingForm rows={rows} ceiling={ceiling} close={close} />
  );
}

function isScope(text: string): text is CeilingScope {
  return (scopeNames as readonly string[]).includes(text);
}
