import type { AuditEntry } from "@beckon/client";
import { type Column, Time } from "../ui/index.ts";
import { EntrySentence } from "./entry-sentence.tsx";
import type { Names } from "./sentence.ts";

/** Columns of the audit log. */
export function auditColumns(names: Names): readonly Column<AuditEntry>[] {
  return [
    {
      id: "time",
      header: "When",
      cell: ({ time }) => (
        <>
          <span className="sr-only">Details, </span>
          <Time value={time} />
        </>
      ),
      width: 104,
    },
    {
      id: "sentence",
      header: "What",
      cell: (entry) => <EntrySentence entry={entry} names={names} />,
    },
    {
      id: "address",
      header: "Address",
      cell: ({ address }) => (
        <span className="font-mono text-dense text-ink-2" title={address ?? undefined}>
          {address ?? "–"}
        </span>
      ),
      width: 176,
      from: "lg",
    },
  ];
}
