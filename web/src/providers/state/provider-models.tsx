import { useState } from "react";
import { formatCounted } from "../../format/index.ts";
import { CopyButton, ScrollRegion, SearchField } from "../../ui/index.ts";

interface ProviderModelsProps {
  readonly provider: string;
  /** Names of the models without the provider's name. */
  readonly models: readonly string[];
}

/** From this number of models on, the list can be searched. */
const searchedFrom = 9;

/** The models of a provider, in the form `provider/model`, which an agent's `model` needs. */
export function ProviderModels({ provider, models }: ProviderModelsProps) {
  const [text, setText] = useState("");
  if (models.length === 0)
    return <p className="text-ink-2">It lists no models. You can still type a model's name.</p>;
  const shown = models.filter((model) => model.toLowerCase().includes(text.trim().toLowerCase()));
  return (
    <div className="flex min-w-0 flex-col gap-2">
      {models.length < searchedFrom ? null : (
        <SearchField
          label={`Search the models of ${provider}`}
          placeholder={`Search ${formatCounted(models.length, "model")}`}
          value={text}
          onChange={setText}
        />
      )}
      {shown.length === 0 ? (
        <p className="text-ink-2">No model has this in its name.</p>
      ) : (
        <ScrollRegion label={`Models of ${provider}`} variant="bounded">
          <ul className="grid grid-cols-1 gap-x-6 sm:grid-cols-2">
            {shown.map((model) => (
              <li key={model} className="flex min-w-0 items-center gap-1 border-b border-rule">
                <span className="min-w-0 flex-1 truncate font-mono text-dense" title={model}>
                  {`${provider}/${model}`}
                </span>
                <CopyButton text={`${provider}/${model}`} what={`${provider}/${model}`} />
              </li>
            ))}
          </ul>
        </ScrollRegion>
      )}
    </div>
  );
}
