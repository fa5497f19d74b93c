import { Field, TextArea, TextInput } from "../../../ui/index.ts";
import { useReceivingForm, useText } from "../form-context.ts";
import { Group } from "../group.tsx";
import { LineArea } from "../line-area.tsx";
import type { Mistakes } from "../use-preview.ts";

interface InputGroupProps {
  readonly summary: string;
  readonly mistakes: Mistakes;
}

/** What the agent sees: prefix, chosen headers and query parameters, message template. */
export function InputGroup({ summary, mistakes }: InputGroupProps) {
  const { errorAt, warningAt, draft } = useReceivingForm();
  const { spellCheck: _, ...prefix } = useText("promptPrefix");
  const headers = useText("headers");
  const query = useText("query");
  const { autoComplete: __, spellCheck: ___, ...template } = useText("template");
  const templateError = errorAt("template");
  const warning = warningAt("template");
  return (
    <Group
      title="What the agent sees"
      summary={summary}
      paths={["prompt_prefix", "headers", "query", "template"]}
      startsOpen
      hasWarning={warning !== undefined}
    >
      <Field
        label="Prompt prefix"
        optional
        hint="Added before each message, separated by a blank line."
        error={errorAt("prompt_prefix")}
      >
        <TextArea {...prefix} rows={2} dir="auto" />
      </Field>
      {draft.isDefault ? null : (
        <>
          <LineArea
            {...template}
            label="Message template"
            optional
            rows={4}
            placeholder={"{{ event.type }}: {{ payload.action }}"}
            hint="In Liquid, with payload, headers, query, event, files and received_at. Without it: the headers and query parameters below, and the payload."
            mistake={
              templateError === undefined
                ? mistakes.template
                : { message: templateError, line: null }
            }
            warning={warning}
          />
          <div className="grid grid-cols-1 items-start gap-4 sm:grid-cols-2">
            <Field
              label="Headers"
              optional
              hint="Names, separated by commas. Credentials and signatures cannot be chosen."
              error={errorAt("headers")}
            >
              <TextInput {...headers} mono placeholder="x-github-event" />
            </Field>
            <Field
              label="Query parameters"
              optional
              hint="Names, one per line."
              error={errorAt("query")}
            >
              <TextArea {...query} mono rows={1} />
            </Field>
          </div>
        </>
      )}
    </Group>
  );
}
