import { createAgentBody } from "@beckon/contract";
import type { FieldError, Resolver } from "react-hook-form";
import { wording } from "../../data/form/form-messages.ts";
import type { AgentTemplate } from "./templates.ts";
import { toolsOf } from "./tools-of.ts";

/** Fields of the form of a new agent. `url` and `apiKey` are for agents that call an API. */
export interface NewAgentFields {
  readonly name: string;
  readonly model: string;
  readonly instructions: string;
  readonly url: string;
  readonly apiKey: string;
}

/** Returns the body of the request that creates the agent. */
export function createBodyOf(template: AgentTemplate | undefined, fields: NewAgentFields) {
  const { name, model, instructions, url, apiKey } = fields;
  const tools = toolsOf(template ?? {}, { url: url.trim(), apiKey: apiKey.trim() });
  return {
    name: name.trim(),
    model: model.trim(),
    instructions,
    ...(tools.length > 0 && { tools }),
  };
}

/** Returns the resolver that checks the form as the API will check the request. */
export function agentResolver(template: AgentTemplate | undefined): Resolver<NewAgentFields> {
  return (fields) => {
    const { error } = createAgentBody.safeParse(createBodyOf(template, fields), { error: wording });
    if (error === undefined) return { values: fields, errors: {} };
    const errors: { -readonly [Field in keyof NewAgentFields]?: FieldError } = {};
    // The allowed host is read from the address. If the address is wrong, an error of the host
    // would say that an address must have no scheme.
    const isAddressWrong = error.issues.some(({ path }) => path.at(-1) === "url");
    for (const { path, message } of error.issues)
      if (!isAddressWrong || !path.includes("allowed_hosts"))
        errors[fieldOf(path.map(String))] ??= { type: "schema", message };
    return { values: {}, errors };
  };
}

/** Returns the form field for a path in the request's body. */
function fieldOf(path: readonly string[]): keyof NewAgentFields {
  const [first] = path;
  if (first === "model" || first === "instructions") return first;
  if (first !== "tools") return "name";
  return path.includes("headers") ? "apiKey" : "url";
}

/**
 * Returns the form field that an error message of the API names at its beginning; undefined if it
 * names none.
 */
export function fieldInMessage(message: string): keyof NewAgentFields | undefined {
  const [, path] = /^"?(name|model|instructions|tools\S*)\b/i.exec(message) ?? [];
  return path === undefined ? undefined : fieldOf(path.toLowerCase().split("."));
}
