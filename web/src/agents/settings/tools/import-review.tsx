import type { ImportHttpToolAnswer } from "@beckon/client";
import { useState } from "react";
import { Banner, Checkbox, SearchField } from "../../../ui/index.ts";
import type { HttpTool } from "../fields.ts";

/** Maximum number of functions in a tool. */
export const maxFunctions = 64;

interface ImportReviewProps {
  readonly answer: ImportHttpToolAnswer;
  readonly chosen: ReadonlySet<string>;
  readonly onChoose: (id: string, isChosen: boolean) => void;
}

/** Shows the operations of an OpenAPI document to choose from, and what could not be converted. */
export function ImportReview({ answer, chosen, onChoose }: ImportReviewProps) {
  const { operations, warnings } = answer;
  const [searched, setSearched] = useState("");
  const imported = new Map(toolIn(answer).operations.map((each) => [each.name, each]));
  const text = searched.trim().toLowerCase();
  const shown = operations.filter(({ id, method, path }) =>
    `${id} ${method} ${path}`.toLowerCase().includes(text),
  );
  return (
    <>
      {warnings.length === 0 ? null : (
        // With another `key`, new warnings scroll into view.
        <div key={warnings.join("\n")} ref={scrollIntoView}>
          <Banner tone="warning">
            <ul className="flex flex-col gap-1">
              {warnings.map((warning) => (
                <li key={warning}>{warning}</li>
              ))}
            </ul>
          </Banner>
        </div>
      )}
      {operations.length > 10 ? (
        <SearchField label="Search functions" value={searched} onChange={setSearched} />
      ) : null}
      <fieldset className="flex min-w-0 flex-col gap-2">
        <legend className="pb-1 text-label font-semibold text-ink-2">
          {`Functions to add: ${chosen.size} of ${operations.length}`}
          {operations.length > maxFunctions ? `, at most ${maxFunctions}` : ""}
        </legend>
        {shown.map(({ id, method, path, name }) => {
          const operation = imported.get(name ?? "");
          return (
            <Checkbox
              key={`${method} ${path}`}
              label={name ?? id}
              checked={chosen.has(id)}
              onChange={({ target }) => onChoose(id, target.checked)}
              hint={
                <span className="flex min-w-0 flex-col">
                  <span>{operation?.description}</span>
                  <span className="font-mono break-all">
                    {`${method} ${operation?.url ?? path}`}
                  </span>
                </span>
              }
            />
          );
        })}
      </fieldset>
    </>
  );
}

/**
 * Casts the tool, which the API's schema describes as any JSON object. The tool's form checks it
 * when the person adds it to the agent.
 */
export function toolIn({ tool }: ImportHttpToolAnswer): HttpTool {
  return tool as unknown as HttpTool;
}

function scrollIntoView(node: HTMLElement | null): void {
  node?.scrollIntoView({ block: "nearest" });
}
