import { Field, NumberInput, Select, TextArea, TextInput } from "../../../ui/index.ts";
import type { Draft } from "../draft.ts";
import { useReceivingForm, useText } from "../form-context.ts";

const algorithms = ["sha1", "sha256", "sha512"].map((value) => ({
  value,
  label: value.toUpperCase().replace("SHA", "SHA-"),
}));
const encodings = [
  { value: "hex", label: "Hex" },
  { value: "base64", label: "Base64" },
];
const forms = [
  { value: "plain", label: "One signature" },
  { value: "pairs", label: "Pairs: t=…,v1=…" },
  { value: "list", label: "List, separated by spaces" },
];
const secretEncodings = [
  { value: "text", label: "Text" },
  { value: "hex", label: "Hex" },
  { value: "base64", label: "Base64" },
  { value: "whsec", label: "Base64 after whsec_" },
];
const timestamps = [
  { value: "none", label: "Not signed" },
  { value: "header", label: "Header" },
  { value: "pair", label: "Pair of the signature" },
  { value: "pointer", label: "Field of the body" },
];

/** The details of an HMAC signature. */
export function HmacFields() {
  const { draft, set, errorAt, isReadOnly: disabled } = useReceivingForm();
  const header = useText("header");
  const prefix = useText("prefix");
  const signed = useText("signed");
  const timestamp = useText("timestamp");
  const idHeader = useText("idHeader");
  const tolerance = useText("tolerance");
  const choice = <Name extends "algorithm" | "encoding" | "form" | "secretEncoding">(
    name: Name,
  ) => ({
    value: draft[name],
    disabled,
    onChange: ({ target }: { readonly target: { readonly value: string } }) =>
      set({ [name]: target.value as Draft[Name] }),
  });
  return (
    <div className="grid grid-cols-1 items-start gap-4 sm:grid-cols-2">
      <Field label="Header with the signature" error={errorAt("verification.header")}>
        <TextInput {...header} mono placeholder="x-signature-256" />
      </Field>
      <Field
        label={draft.form === "pairs" ? "Name of the signature's pairs" : "Prefix"}
        optional={draft.form !== "pairs"}
        error={errorAt("verification.prefix")}
        hint={draft.form === "pairs" ? "Such as v1." : "Precedes the signature, such as sha256=."}
      >
        <TextInput {...prefix} mono />
      </Field>
      <Field label="Algorithm">
        <Select {...choice("algorithm")} options={algorithms} />
      </Field>
      <Field label="Encoding">
        <Select {...choice("encoding")} options={encodings} />
      </Field>
      <Field label="Form of the header">
        <Select {...choice("form")} options={forms} />
      </Field>
      <Field label="The secret is">
        <Select {...choice("secretEncoding")} options={secretEncodings} />
      </Field>
      <Field
        label="Signed text"
        error={errorAt("verification.signed")}
        hint="With {body}, {timestamp} and {id}, such as v0:{timestamp}:{body}."
      >
        <TextArea {...signed} mono rows={2} />
      </Field>
      <Field label="Header with the id" optional error={errorAt("verification.id")}>
        <TextInput {...idHeader} mono placeholder="webhook-id" />
      </Field>
      <Field label="Time of the request">
        <Select
          value={draft.timestampAt}
          disabled={disabled}
          onChange={({ target }) => set({ timestampAt: target.value as Draft["timestampAt"] })}
          options={timestamps}
        />
      </Field>
      {draft.timestampAt === "none" ? null : (
        <Field
          label={
            { header: "Header name", pair: "Name of the pair", pointer: "JSON pointer" }[
              draft.timestampAt
            ]
          }
          error={errorAt("verification.timestamp")}
        >
          <TextInput {...timestamp} mono />
        </Field>
      )}
      {draft.timestampAt === "none" ? null : (
        <Field
          label="Tolerance"
          hint="How much it can differ from the time of arrival."
          error={errorAt("verification.tolerance_seconds")}
        >
          <NumberInput {...tolerance} unit="seconds" inputMode="numeric" />
        </Field>
      )}
    </div>
  );
}
