import { useQuery } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { useState } from "react";
import { useWorkspace } from "../../data/index.ts";
import { Button, Panel, Problem, Skeleton } from "../../ui/index.ts";
import { preferredLists } from "../default-model.ts";
import { AddProvider } from "../form/add-provider.tsx";
import { modelsQuery } from "../queries.ts";
import { FoundModels } from "./found-models.tsx";

/** Properties of `ProviderHelp`. */
export interface ProviderHelpProps {
  /** The model in use, as `provider/model`. */
  readonly current: string;
  /** Called with the model that the person chooses, as `provider/model`. */
  readonly onUse: (model: string) => void;
  /** Why the person cannot use a model here, for example their role; undefined if they can. */
  readonly disabledReason?: string | undefined;
}

/** The content of `ProviderHelp`, which loads this module only when it is shown. */
export function ProviderHelpPanel({ current, onUse, disabledReason }: ProviderHelpProps) {
  const workspace = useWorkspace();
  const [isAdding, setAdding] = useState(false);
  const { data: lists, error, refetch } = useQuery(modelsQuery(workspace));
  const found = preferredLists(lists ?? []);
  const demo = lists?.filter(({ origin }) => origin === "built_in") ?? [];
  return (
    <Panel title="Choose where the answers come from" padding="none">
      {error === null ? null : (
        <div className="p-4">
          <Problem error={error} title="Models could not be loaded." onRetry={refetch} />
        </div>
      )}
      <ul aria-label="Sources of models" className="flex flex-col divide-y divide-rule">
        {lists === undefined && error === null ? (
          <li className="flex h-16 items-center px-4">
            <Skeleton width={60} />
          </li>
        ) : null}
        {[...found, ...demo].map((list) => (
          <FoundModels
            key={list.provider_id ?? list.provider}
            list={list}
            current={current}
            onUse={onUse}
            disabledReason={disabledReason}
          />
        ))}
        <li className="flex min-w-0 flex-wrap items-center gap-x-4 gap-y-2 px-4 py-3">
          <div className="flex min-w-0 flex-1 basis-60 flex-col">
            <h3 className="font-semibold">Your own account or server</h3>
            <p className="text-dense text-ink-2">
              OpenAI, Anthropic, Google, OpenRouter, Ollama, or any server with an OpenAI-compatible
              API.
            </p>
          </div>
          <Button
            icon={Plus}
            onClick={() => setAdding(true)}
            disabledReason={workspace.whyNot("providers:write")}
          >
            Add provider
          </Button>
        </li>
      </ul>
      <AddProvider open={isAdding} close={() => setAdding(false)} />
    </Panel>
  );
}
