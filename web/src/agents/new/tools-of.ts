import type { CreateAgentBody } from "@beckon/client";
import type { AgentTemplate } from "./templates.ts";

/** The fields of the form that are shown if the template's agent calls an API. */
interface Connection {
  /** The API's address, with a placeholder that the model replaces in each call. */
  readonly url: string;
  /** The key, which is sent as a bearer token; empty for an API without one. */
  readonly apiKey: string;
}

/** Returns the tools of an agent that is created from a template. */
export function toolsOf(
  { api, clock }: Pick<AgentTemplate, "api" | "clock">,
  { url, apiKey }: Connection,
): NonNullable<CreateAgentBody["tools"]> {
  if (api === undefined) return clock ? [{ type: "clock" }] : [];
  return [
    {
      type: "http",
      name: api.tool,
      allowed_hosts: [hostOf(url)],
      headers: apiKey === "" ? {} : { Authorization: { secret: apiKey, prefix: "Bearer " } },
      operations: [
        {
          name: api.operation,
          description: api.description,
          method: "GET",
          url,
          parameters: {
            type: "object",
            properties: {
              [api.parameter]: { type: "string", description: api.parameterDescription },
            },
            required: [api.parameter],
          },
        },
      ],
    },
  ];
}

/** Returns `host` or `host:port` of the address, empty if it has none. */
function hostOf(url: string): string {
  return /^https?:\/\/([^/?#{}@\s]+)/.exec(url)?.[1] ?? "";
}
