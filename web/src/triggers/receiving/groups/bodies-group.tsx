import { Checkbox, Field, NumberInput } from "../../../ui/index.ts";
import { useReceivingForm, useText } from "../form-context.ts";
import { Group } from "../group.tsx";

const kinds = [
  ["multipart", "Multipart forms", "Fields as JSON; files become artifacts of the run."],
  ["xml", "XML", "As text. It is never parsed."],
  ["ndjson", "NDJSON", "As text."],
  ["csv", "CSV", "As text."],
  ["gzip", "Compressed", "gzip and deflate. The size limit applies to the inflated body."],
] as const;

/** Which bodies are accepted, how large, and how often. */
export function BodiesGroup({ summary }: { readonly summary: string }) {
  const { draft, set, errorAt, isReadOnly } = useReceivingForm();
  const maxKib = useText("maxKib");
  const maxPerMinute = useText("maxPerMinute");
  return (
    <Group title="Bodies and limits" summary={summary} paths={["bodies", "max_per_minute"]}>
      <fieldset className="flex min-w-0 flex-col gap-2">
        <legend className="pb-1 text-label font-semibold text-ink-2">
          Besides text, JSON and forms
        </legend>
        <div className="grid grid-cols-1 gap-x-4 gap-y-2 sm:grid-cols-2">
          {kinds.map(([name, label, hint]) => (
            <Checkbox
              key={name}
              label={label}
              hint={hint}
              checked={draft[name]}
              disabled={isReadOnly}
              onChange={({ target }) => set({ [name]: target.checked })}
            />
          ))}
        </div>
      </fieldset>
      <div className="grid grid-cols-1 items-start gap-4 sm:grid-cols-2">
        <Field
          label="Largest body"
          hint="At most 25,600 KiB. More than 1,024 KiB needs a message template."
          error={errorAt("bodies.max_bytes")}
        >
          <NumberInput {...maxKib} unit="KiB" inputMode="numeric" />
        </Field>
        <Field
          label="Rate limit"
          optional
          hint="Per server process. Further requests get 429."
          error={errorAt("max_per_minute")}
        >
          <NumberInput {...maxPerMinute} unit="a minute" inputMode="numeric" />
        </Field>
      </div>
    </Group>
  );
}
