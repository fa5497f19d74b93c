import { Field, Select, TextInput } from "../../ui/index.ts";
import type { LocationDraft, LocationKind } from "./draft.ts";
import { useReceivingForm } from "./form-context.ts";

interface LocationFieldProps {
  readonly label: string;
  readonly hint: string;
  readonly name: "eventId" | "eventType";
  readonly path: string;
}

const kinds: readonly { readonly value: LocationKind; readonly label: string }[] = [
  { value: "none", label: "Nowhere" },
  { value: "header", label: "Header" },
  { value: "query", label: "Query parameter" },
  { value: "pointer", label: "Field of the body" },
  { value: "cloudevents", label: "CloudEvents" },
];

const examples: Readonly<Record<LocationKind, string>> = {
  none: "",
  header: "x-event-id",
  query: "event",
  pointer: "/event/id",
  cloudevents: "",
};

const names = { header: "Header name", query: "Parameter name", pointer: "JSON pointer" };

/** The field that says where in a request a value is, for example in which header. */
export function LocationField({ label, hint, name, path }: LocationFieldProps) {
  const { draft, set, errorAt, isReadOnly } = useReceivingForm();
  const location = draft[name];
  const change = (changed: Partial<LocationDraft>) => set({ [name]: { ...location, ...changed } });
  const { at } = location;
  return (
    <div className="grid min-w-0 grid-cols-1 items-start gap-3 sm:grid-cols-2">
      <Field label={label} hint={hint}>
        <Select
          value={at}
          disabled={isReadOnly}
          onChange={({ target }) => change({ at: target.value as LocationKind })}
          options={kinds}
        />
      </Field>
      {at === "none" || at === "cloudevents" ? null : (
        <Field label={names[at]} error={errorAt(path)}>
          <TextInput
            mono
            value={location.name}
            onChange={({ target }) => change({ name: target.value })}
            placeholder={examples[at]}
            readOnly={isReadOnly}
            spellCheck={false}
            autoComplete="off"
          />
        </Field>
      )}
    </div>
  );
}
