import type { AuditEntry } from "@beckon/client";
import { useQuery } from "@tanstack/react-query";
import { useWorkspace } from "../data/index.ts";
import { formatExact } from "../format/index.ts";
import { Dialog, LinkButton, Problem, Skeleton, useTimeZone } from "../ui/index.ts";
import { EntryChanges } from "./entry-changes.tsx";
import { EntryFacts } from "./entry-facts.tsx";
import { entryQuery } from "./queries.ts";
import { sentenceText } from "./sentence.ts";
import { useAuditNames } from "./use-audit-names.ts";

interface EntryDialogProps {
  readonly entryId: string;
  /** Time of the entry. It is needed to read the entry if the list has not loaded it. */
  readonly at: string;
  readonly known: AuditEntry | undefined;
  readonly close: () => void;
}

/** Shows an entry with all its details. */
export function EntryDialog({ entryId, at, known, close }: EntryDialogProps) {
  const workspace = useWorkspace();
  const zone = useTimeZone();
  const read = useQuery({ ...entryQuery(workspace, entryId, at), enabled: known === undefined });
  const entry = known ?? read.data;
  const { names } = useAuditNames(entry ? [entry] : []);
  if (entry === undefined || entry === null)
    return (
      <Dialog
        open
        onOpenChange={close}
        title={entry === null ? "There is no such entry" : "Entry of the audit log"}
        {...(entry === null
          ? { description: "The link is incomplete, or leads to another workspace." }
          : {})}
      >
        {read.isError ? (
          <Problem
            error={read.error}
            title="The entry could not be loaded."
            onRetry={read.refetch}
          />
        ) : entry === null ? undefined : (
          <div className="flex flex-col gap-2">
            <Skeleton width={60} />
            <Skeleton width={40} />
          </div>
        )}
      </Dialog>
    );
  const path = `/w/${workspace.id}/audit`;
  const only = (filter: Readonly<Record<string, string>>) =>
    `${path}?${new URLSearchParams(filter)}`;
  return (
    <Dialog
      open
      onOpenChange={close}
      title={sentenceText(entry, names)}
      description={formatExact(entry.time, zone)}
      footer={
        <>
          <LinkButton variant="quiet" href={only({ actor: entry.actor })}>
            All by this actor
          </LinkButton>
          <LinkButton variant="quiet" href={only({ target: entry.target })}>
            All about this thing
          </LinkButton>
        </>
      }
    >
      <div className="flex min-w-0 flex-col gap-6">
        <EntryFacts entry={entry} names={names} />
        <EntryChanges entry={entry} />
      </div>
    </Dialog>
  );
}
