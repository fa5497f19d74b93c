import type { Preset } from "@beckon/contract";
import { Field, Link, Select, type SelectGroup, type SelectOption } from "../../../ui/index.ts";
import { withPreset } from "../draft.ts";
import { useReceivingForm } from "../form-context.ts";

const generic: readonly string[] = ["hmac", "secret-header", "basic", "none"];

/** The options of senders: anything, then services, then general methods of verification. */
function senderOptions(presets: readonly Preset[]): readonly (SelectOption | SelectGroup)[] {
  const optionOf = ({ name, title }: Preset) => ({ value: name, label: title });
  return [
    { value: "", label: "Anything: text, JSON or a form" },
    {
      group: "Services",
      options: presets.filter(({ name }) => !generic.includes(name)).map(optionOf),
    },
    {
      group: "Others",
      options: presets.filter(({ name }) => generic.includes(name)).map(optionOf),
    },
  ];
}

/** The choice of the sender, which sets all settings that depend on the sender. */
export function SenderGroup({ presets }: { readonly presets: readonly Preset[] }) {
  const { draft, set, isReadOnly } = useReceivingForm();
  const preset = presets.find(({ name }) => name === draft.preset);
  const choose = (name: string) => {
    const chosen = presets.find((each) => each.name === name);
    if (chosen === undefined) set({ isDefault: true });
    else set(withPreset(draft, chosen, preset));
  };
  return (
    <div className="flex min-w-0 flex-col gap-2 p-4">
      <Field
        label="Sender"
        hint={
          draft.isDefault
            ? "Any POST of text, JSON or a form starts a run. The agent sees the prompt prefix and the payload."
            : "Choosing another one sets verification, event id, bodies, headers and its filter below."
        }
      >
        <Select
          value={draft.isDefault ? "" : (draft.preset ?? "custom")}
          disabled={isReadOnly}
          onChange={({ target }) => choose(target.value)}
          options={[
            ...senderOptions(presets),
            // Settings that were made over the API, without a preset, have an option of their own.
            ...(draft.isDefault || draft.preset !== null
              ? []
              : [{ value: "custom", label: "Settings of your own" }]),
          ]}
        />
      </Field>
      {draft.isDefault || preset === undefined ? null : (
        <p className="max-w-160 text-dense text-ink-2 text-pretty">
          {preset.instructions}{" "}
          {preset.url === null ? null : <Link href={preset.url}>Documentation</Link>}
        </p>
      )}
    </div>
  );
}
