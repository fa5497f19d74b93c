import { Field, Select, TextArea, TextInput } from "../../../ui/index.ts";
import type { Draft } from "../draft.ts";
import { useReceivingForm, useText } from "../form-context.ts";
import { Group } from "../group.tsx";

const answers = [
  { value: "json", label: "JSON" },
  { value: "redirect", label: "Redirect to a page" },
  { value: "text", label: "A text" },
];

/** Settings for forms in web pages. */
export function FormsGroup({ summary }: { readonly summary: string }) {
  const { draft, set, errorAt, isReadOnly } = useReceivingForm();
  const origins = useText("origins");
  const honeypot = useText("honeypot");
  const redirect = useText("redirect");
  const { spellCheck: _, autoComplete: __, ...text } = useText("text");
  return (
    <Group title="Web forms" summary={summary} paths={["form"]}>
      <div className="grid grid-cols-1 items-start gap-4 sm:grid-cols-2">
        <Field
          label="Allowed origins"
          optional
          hint="One per line. Pages of other origins get 403. Empty: all."
          error={errorAt("form.origins")}
        >
          <TextArea {...origins} mono rows={1} placeholder="https://example.com" />
        </Field>
        <Field
          label="Hidden field"
          optional
          hint="A field that people do not see. If it has a value, the request starts no run."
          error={errorAt("form.honeypot")}
        >
          <TextInput {...honeypot} mono placeholder="website" />
        </Field>
        <Field label="Answer to the browser">
          <Select
            value={draft.answer}
            disabled={isReadOnly}
            onChange={({ target }) => set({ answer: target.value as Draft["answer"] })}
            options={answers}
          />
        </Field>
        {draft.answer === "redirect" ? (
          <Field label="Address of the page" error={errorAt("form.answer")}>
            <TextInput {...redirect} mono placeholder="https://example.com/thanks" />
          </Field>
        ) : null}
        {draft.answer === "text" ? (
          <Field
            label="Text"
            hint="Shown on a page without style and script."
            error={errorAt("form.answer")}
          >
            <TextArea {...text} rows={1} dir="auto" />
          </Field>
        ) : null}
      </div>
    </Group>
  );
}
