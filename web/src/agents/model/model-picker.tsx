import { useQuery } from "@tanstack/react-query";
import { Command } from "cmdk";
import { useState } from "react";
import { useWorkspace } from "../../data/index.ts";
import { modelsQuery } from "../../providers/index.ts";
import { Problem, Spinner } from "../../ui/index.ts";
import { originWords } from "./models.ts";

interface ModelPickerProps {
  readonly onChoose: (model: string) => void;
}

/** Lists the models of all providers, to search and choose from. */
export function ModelPicker({ onChoose }: ModelPickerProps) {
  const { data: lists, error, refetch } = useQuery(modelsQuery(useWorkspace()));
  const [text, setText] = useState("");
  if (error !== null)
    return <Problem error={error} title="Models could not be loaded." onRetry={refetch} />;
  if (lists === undefined) return <Spinner label="Loading the models" />;
  const typed = text.trim();
  const isListed = lists.some(({ models }) => models.includes(typed));
  return (
    <Command label="Models" loop className="flex w-80 max-w-full flex-col">
      <Command.Input
        value={text}
        onValueChange={setText}
        placeholder="Find a model, or type provider/model"
        className="h-control rounded-control border border-edge bg-field px-2 font-mono text-dense outline-offset-0"
      />
      <Command.List className="max-h-72 overflow-y-auto pt-1">
        {/^[^/\s]+\/\S+$/.test(typed) && !isListed ? (
          <Item value={typed} onSelect={() => onChoose(typed)} forceMount>
            {`Use “${typed}”`}
          </Item>
        ) : (
          <Command.Empty className="px-2 py-4 text-dense text-ink-3">
            No model matches. Type its whole name as provider/model.
          </Command.Empty>
        )}
        {lists.map(({ provider, origin, models, error: reason }) => (
          <Command.Group
            key={`${origin} ${provider}`}
            heading={`${provider}, ${originWords(origin)}`}
            className="**:[[cmdk-group-heading]]:px-2 **:[[cmdk-group-heading]]:pt-2 **:[[cmdk-group-heading]]:pb-1 **:[[cmdk-group-heading]]:text-label **:[[cmdk-group-heading]]:text-ink-3"
          >
            {models.map((model) => (
              <Item key={model} value={model} onSelect={() => onChoose(model)}>
                {model}
              </Item>
            ))}
            {reason === null ? null : (
              <Command.Item disabled value={`${provider} error`} className="px-2 py-1">
                <span className="text-dense text-brass">{reason}</span>
              </Command.Item>
            )}
          </Command.Group>
        ))}
      </Command.List>
    </Command>
  );
}

interface ItemProps {
  readonly value: string;
  readonly onSelect: () => void;
  readonly forceMount?: boolean;
  readonly children: string;
}

function Item({ value, onSelect, forceMount = false, children }: ItemProps) {
  return (
    <Command.Item
      value={value}
      onSelect={onSelect}
      forceMount={forceMount}
      className="flex min-h-8 cursor-default items-center rounded-control px-2 font-mono text-dense break-all data-[selected=true]:bg-pick"
    >
      {children}
    </Command.Item>
  );
}
