import { Command } from "cmdk";
import { Check } from "lucide-react";
import { useState } from "react";
import { FoundCount, maxListed } from "./found-count.tsx";

interface ChoicesProps {
  readonly label: string;
  readonly value: string;
  readonly options: readonly string[];
  readonly onChoose: (value: string) => void;
}

/** The options of a `SearchSelect`, loaded after the first paint. */
export function SearchChoices({ label, value, options, onChoose }: ChoicesProps) {
  const [text, setText] = useState("");
  const words = text.toLowerCase().split(/[\s_/]+/);
  const found = options.filter((option) => {
    const lower = option.toLowerCase();
    return words.every((word) => lower.includes(word));
  });
  // The chosen option is listed first, so that it is visible.
  const listed =
    text === "" && options.includes(value)
      ? [value, ...found.filter((option) => option !== value)]
      : found;
  return (
    <Command label={label} shouldFilter={false} loop className="flex min-h-0 flex-1 flex-col">
      <Command.Input
        value={text}
        onValueChange={setText}
        autoFocus
        placeholder="Type to search"
        className="h-control flex-none border-b border-rule bg-transparent px-3 outline-none"
      />
      <Command.List className="min-h-0 flex-1 overflow-y-auto p-1">
        {listed.slice(0, maxListed).map((option) => (
          <Command.Item
            key={option}
            value={option}
            onSelect={() => onChoose(option)}
            className="flex min-h-8 cursor-default items-center gap-2 rounded-control px-2 data-[selected=true]:bg-hover"
          >
            <span className="min-w-0 flex-1 truncate">{option}</span>
            {option === value ? <Check aria-hidden /> : null}
          </Command.Item>
        ))}
      </Command.List>
      <FoundCount count={listed.length} />
    </Command>
  );
}
