import { Field, Select, TextArea, TextInput } from "../../../ui/index.ts";
import type { Draft } from "../draft.ts";
import { useReceivingForm, useText } from "../form-context.ts";
import { Group } from "../group.tsx";
import { handshakeNames } from "../summaries.ts";
import { HmacFields } from "./hmac-fields.tsx";

const kinds: readonly { readonly value: Draft["kind"]; readonly label: string }[] = [
  { value: "none", label: "Not at all" },
  { value: "hmac", label: "A signature (HMAC)" },
  { value: "header", label: "A secret in a header" },
  { value: "basic", label: "Basic authentication" },
  { value: "twilio", label: "Twilio's signature" },
];

const hints: Readonly<Record<Draft["kind"], string>> = {
  none: "Anyone who knows the URL can start runs.",
  hmac: "The sender signs each request with the secret.",
  header: "The sender sends the secret itself.",
  basic: "The secret is user:password.",
  twilio: "It covers the public URL, so the server needs the setting PUBLIC_URL.",
};

const handshakes = [
  { value: "none", label: "None" },
  ...Object.entries(handshakeNames).map(([value, label]) => ({ value, label })),
];

/** How requests are verified, and the handshake that a sender makes before it sends events. */
export function VerificationGroup({ summary }: { readonly summary: string }) {
  const { draft, set, errorAt, isReadOnly } = useReceivingForm();
  const header = useText("header");
  const prefix = useText("prefix");
  const addresses = useText("addresses");
  return (
    <Group
      title="Verification"
      summary={summary}
      paths={["verification", "handshake", "allowed_addresses"]}
    >
      <Field label="How requests are verified" hint={hints[draft.kind]}>
        <Select
          value={draft.kind}
          disabled={isReadOnly}
          onChange={({ target }) => set({ kind: target.value as Draft["kind"] })}
          options={kinds}
        />
      </Field>
      {draft.kind === "header" ? (
        <div className="grid grid-cols-1 items-start gap-4 sm:grid-cols-2">
          <Field label="Header" error={errorAt("verification.header")}>
            <TextInput {...header} mono placeholder="x-webhook-secret" />
          </Field>
          <Field
            label="Prefix"
            optional
            hint="What precedes the secret, such as Bearer and a space."
            error={errorAt("verification.prefix")}
          >
            <TextInput {...prefix} mono />
          </Field>
        </div>
      ) : null}
      {draft.kind === "hmac" ? <HmacFields /> : null}
      <div className="grid grid-cols-1 items-start gap-4 sm:grid-cols-2">
        <Field label="Handshake" hint="What the sender asks before it sends events.">
          <Select
            value={draft.handshake}
            disabled={isReadOnly}
            onChange={({ target }) => set({ handshake: target.value as Draft["handshake"] })}
            options={handshakes}
          />
        </Field>
        <Field
          label="Allowed addresses"
          optional
          hint="IP addresses or CIDR ranges, one per line. Empty: all."
          error={errorAt("allowed_addresses")}
        >
          <TextArea {...addresses} mono rows={1} placeholder="192.0.2.0/24" />
        </Field>
      </div>
    </Group>
  );
}
