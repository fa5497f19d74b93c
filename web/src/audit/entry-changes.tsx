import type { AuditEntry } from "@beckon/client";
import { LongText } from "../ui/index.ts";
import { changesOf, fieldWords, innerChanges } from "./sentence.ts";
import { valueText } from "./value-text.ts";

/**
 * Shows the fields that the entry's action has changed, with the values before and after; renders
 * nothing if there are none.
 */
export function EntryChanges({ entry }: { readonly entry: AuditEntry }) {
  const changes = changesOf(entry.data).flatMap(innerChanges);
  if (changes.length === 0) return null;
  return (
    <ul aria-label="Changed fields" className="flex min-w-0 flex-col gap-4">
      {changes.map(({ field, before, after }) => (
        <li key={field} className="flex min-w-0 flex-col gap-2">
          <h3 className="font-semibold break-words first-letter:uppercase">{fieldWords(field)}</h3>
          <dl className="grid min-w-0 gap-2 sm:grid-cols-2">
            <Side label="Before" value={before} look="bg-flare-soft" />
            <Side label="After" value={after} look="bg-moss-soft" />
          </dl>
        </li>
      ))}
    </ul>
  );
}

interface SideProps {
  readonly label: string;
  readonly value: unknown;
  readonly look: string;
}

function Side({ label, value, look }: SideProps) {
  const isSet = value !== undefined && value !== null && value !== "";
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <dt className="text-label text-ink-3">{label}</dt>
      <dd
        className={`min-h-8 min-w-0 flex-1 rounded-control border border-rule px-2 py-1.5 ${isSet ? look : ""}`}
      >
        {isSet ? (
          <LongText variant="code" text={valueText(value)} />
        ) : (
          <span className="text-ink-3">Not set</span>
        )}
      </dd>
    </div>
  );
}
