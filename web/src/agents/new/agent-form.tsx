import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { Controller, useForm } from "react-hook-form";
import { failureOf, messageOf, sentenceOf, useWorkspace } from "../../data/index.ts";
import { defaultModel, modelsQuery } from "../../providers/index.ts";
import {
  Button,
  Field,
  FormError,
  FormPendingContext,
  LeaveGuard,
  LinkButton,
  TextArea,
  TextInput,
} from "../../ui/index.ts";
import { ModelField } from "../model/model-field.tsx";
import { newestAgentQuery } from "../queries.ts";
import {
  agentResolver,
  createBodyOf,
  fieldInMessage,
  type NewAgentFields,
} from "./agent-fields.ts";
import { ApiFields } from "./api-fields.tsx";
import type { AgentTemplate } from "./templates.ts";
import { useCreateAgent } from "./use-create-agent.ts";
import { useKeptFields } from "./use-kept-fields.ts";

interface AgentFormProps {
  /** The template with which the form is filled in; undefined for an empty form. */
  readonly template?: AgentTemplate | undefined;
}

const again = "Press Create agent again without changes: it is created once only.";

/**
 * The form of a new agent. The model is always filled in. The name is filled in only from a
 * template: with a default name, many agents would have the same name.
 */
export function AgentForm({ template }: AgentFormProps) {
  const workspace = useWorkspace();
  const isCreated = useRef(false);
  const create = useCreateAgent(() => {
    isCreated.current = true;
  });
  const form = useForm<NewAgentFields>({
    resolver: agentResolver(template),
    mode: "onTouched",
    defaultValues: {
      name: template?.name ?? "",
      model: "",
      instructions: template?.instructions ?? "",
      url: template?.api?.url ?? "",
      apiKey: "",
    },
  });
  const { control, register, handleSubmit, setError, resetField, getFieldState, formState } = form;
  const { errors, isDirty, isSubmitted, dirtyFields } = formState;
  useKeptFields(form, `${workspace.id}.${template?.id ?? "blank"}`);

  const newest = useQuery(newestAgentQuery(workspace));
  const models = useQuery(modelsQuery(workspace));
  const isKnown = !newest.isPending && !models.isPending;
  useEffect(() => {
    // `dirtyFields` is not used here: its value in the last render can lack what was typed since.
    if (!isKnown || getFieldState("model").isDirty) return;
    // The model becomes the field's default value. If the person empties the field to type another
    // model, the field counts as changed, so this effect does not fill it in again.
    resetField("model", { defaultValue: defaultModel(newest.data?.model, models.data ?? []) });
  }, [isKnown, newest.data, models.data, resetField, getFieldState]);

  const submit = handleSubmit((fields) =>
    create.mutate(createBodyOf(template, fields), {
      onError: (thrown) => {
        const field = fieldInMessage(sentenceOf(thrown));
        if (field !== undefined)
          setError(field, { message: sentenceOf(thrown) }, { shouldFocus: true });
      },
    }),
  );
  return (
    <form noValidate onSubmit={submit} className="flex max-w-180 flex-col gap-4">
      <LeaveGuard isDirty={() => isDirty && !isCreated.current} discardLabel="Discard agent" />
      <FormPendingContext value={create.isPending}>
        <div className="grid gap-4 sm:grid-cols-2">
          {/* The name has the focus at first. Until something is typed, its error is shown only
              after an attempt to create the agent: if the error appeared when the field loses the
              focus, it would move the button that is being pressed. */}
          <Field
            label="Name"
            error={isSubmitted || dirtyFields.name ? messageOf(errors.name) : undefined}
          >
            <TextInput
              {...register("name")}
              autoComplete="off"
              autoFocus={template === undefined}
            />
          </Field>
          <Controller
            control={control}
            name="model"
            render={({ field }) => <ModelField {...field} error={messageOf(errors.model)} />}
          />
        </div>
        {template?.api === undefined ? null : <ApiFields api={template.api} form={form} />}
        <Field
          label="Instructions"
          hint="What the agent does, how it answers and what it must not do. You can change them at any time."
          error={messageOf(errors.instructions)}
        >
          <TextArea
            {...register("instructions")}
            rows={10}
            placeholder="You answer questions about …"
          />
        </Field>
      </FormPendingContext>
      <FormError
        error={
          create.isError && fieldInMessage(sentenceOf(create.error)) === undefined
            ? failureOf(create.error, "the agent was created", again)
            : undefined
        }
      />
      <div className="flex flex-wrap gap-2">
        <Button type="submit" variant="primary" pending={create.isPending} pendingText="Creating…">
          Create agent
        </Button>
        <LinkButton href={`/w/${workspace.id}/agents`} variant="quiet">
          Cancel
        </LinkButton>
      </div>
    </form>
  );
}
