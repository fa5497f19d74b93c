import type { ModelList } from "@beckon/client";
import { useState } from "react";
import { useWorkspace } from "../../data/index.ts";
import { Badge, Button, Field, LinkButton, Select } from "../../ui/index.ts";
import { isChatCompletions, preferredModel } from "../default-model.ts";
import { originLabel } from "../origin.ts";
import { ProviderProblem } from "../state/provider-problem.tsx";

interface FoundModelsProps {
  readonly list: ModelList;
  /** The model in use, which needs no button. */
  readonly current: string;
  readonly onUse: (model: string) => void;
  readonly disabledReason: string | undefined;
}

/** An existing provider with its models, from which the person can choose one. */
export function FoundModels({ list, current, onUse, disabledReason }: FoundModelsProps) {
  const { provider, models, origin, error } = list;
  const { id: workspaceId } = useWorkspace();
  const [chosen, setChosen] = useState<string>();
  const model = chosen ?? preferredModel(models);
  const label = originLabel(origin);
  return (
    <li className="flex min-w-0 flex-wrap items-center gap-x-4 gap-y-2 px-4 py-3">
      <div className="flex min-w-0 flex-1 basis-60 flex-col gap-0.5">
        <div className="flex min-w-0 items-center gap-2">
          <h3 className="truncate font-mono font-semibold">{provider}</h3>
          {label === undefined ? null : <Badge>{label}</Badge>}
        </div>
        {error === null ? (
          <p className="text-dense text-ink-2">{hintFor(list)}</p>
        ) : (
          <ProviderProblem message={error} isOwn={origin === "workspace"} />
        )}
      </div>
      {models.length > 1 ? (
        <div className="min-w-0 basis-60 max-sm:grow">
          <Field label={`Model of ${provider}`} labelHidden>
            <Select
              value={model}
              onChange={({ target }) => setChosen(target.value)}
              options={models.map((each) => ({ value: each, label: each }))}
            />
          </Field>
        </div>
      ) : null}
      {error !== null && origin === "workspace" ? (
        <LinkButton href={`/w/${workspaceId}/providers?edit=${list.provider_id}`}>Edit</LinkButton>
      ) : null}
      {model === current ? <Badge>In use</Badge> : null}
      {model === undefined || model === current ? null : (
        <Button
          onClick={() => onUse(model)}
          disabledReason={disabledReason}
          aria-label={`Use it: ${model}`}
        >
          Use it
        </Button>
      )}
    </li>
  );
}

function hintFor(list: ModelList): string {
  const { origin, models } = list;
  if (isChatCompletions(list)) return "The same account by Chat Completions. Prefer openai.";
  if (origin === "built_in")
    return "Repeats what it is given. It needs no account and costs nothing.";
  if (models.length === 0)
    return "It lists no models. Type a model's name in the agent's settings.";
  return models.length === 1 ? (models[0] ?? "") : `${models.length} models`;
}
