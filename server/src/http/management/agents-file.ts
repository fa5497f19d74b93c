import { yamlItems } from "../../base/yaml/index.ts";
import type { ExportedDocument } from "../../bundles/index.ts";
import type { StreamedResult } from "./render.ts";

/**
 * Returns the exported agents as a file, JSON or YAML. Only one batch of agents at a time is in
 * memory while the file is sent. `POST /agents/import` accepts both formats.
 */
export function agentsFile({ format, agents }: ExportedDocument): StreamedResult {
  const { values, heldBytes } = agents;
  const content = format === "json" ? asJson(values) : asYaml(values);
  return {
    file: { name: `beckon-agents.${format}`, type: `application/${format}`, content, heldBytes },
  };
}

async function* asJson(agents: AsyncIterable<unknown>): AsyncGenerator<string> {
  yield '{"beckon":1,"agents":[';
  let isFirst = true;
  for await (const agent of agents) {
    yield `${isFirst ? "" : ","}\n${JSON.stringify(agent)}`;
    isFirst = false;
  }
  yield isFirst ? "]}\n" : "\n]}\n";
}

async function* asYaml(agents: AsyncIterable<unknown>): AsyncGenerator<string> {
  let isFirst = true;
  for await (const agent of agents) {
    yield `${isFirst ? "beckon: 1\nagents:\n" : ""}${yamlItems([agent])}`;
    isFirst = false;
  }
  if (isFirst) yield "beckon: 1\nagents: []\n";
}
