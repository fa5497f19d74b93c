import type { AuditEntry } from "@beckon/client";
import { LongText, Term } from "../ui/index.ts";
import { Thing } from "./entry-sentence.tsx";
import { actorText, factsOf, fieldWords, type Names } from "./sentence.ts";
import { valueText } from "./value-text.ts";

interface EntryFactsProps {
  readonly entry: AuditEntry;
  readonly names: Names;
}

/** The facts of an entry: actor, action, target, IP address and others. */
export function EntryFacts({ entry, names }: EntryFactsProps) {
  const { actor, action, target, address } = entry;
  return (
    <dl className="grid min-w-0 grid-cols-[minmax(5rem,auto)_minmax(0,1fr)] gap-x-4 gap-y-2">
      <Term name="Actor">
        <bdi>{actorText(actor, names)}</bdi> <Code text={actor} />
      </Term>
      <Term name="Action">
        <Code text={action} />
      </Term>
      <Term name="Resource">
        <Thing id={target} names={names} /> {names.has(target) ? <Code text={target} /> : null}
      </Term>
      <Term name="Address">{address === null ? "–" : <Code text={address} />}</Term>
      {factsOf(entry).map(([field, value]) => (
        <Term key={field} name={capitalised(fieldWords(field))}>
          <LongText text={valueText(value)} variant="code" />
        </Term>
      ))}
    </dl>
  );
}

function Code({ text }: { readonly text: string }) {
  return <span className="font-mono text-dense break-all text-ink-2">{text}</span>;
}

const capitalised = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
