import type { PreviewTriggerBody } from "@beckon/client";
import type { ExampleRequest, Preset, ReceivedRequest } from "@beckon/contract";
import { contentTypeOf, type PayloadType } from "../input/payload.ts";

type TrialRequest = PreviewTriggerBody["request"];

/** The chosen request of a preview: `request:<id>`, `example:<index>` or `own`. */
export type TrialChoice = string;

/** A payload that a person has typed. */
export interface OwnPayload {
  readonly type: PayloadType;
  readonly text: string;
  /** Headers, one `name: value` per line. */
  readonly headers: string;
}

/** Returns the request of a preview for the API; undefined if it no longer exists. */
export function trialOf(
  choice: TrialChoice,
  preset: Preset | undefined,
  own: OwnPayload,
): TrialRequest | undefined {
  if (choice.startsWith("request:")) return { request_id: choice.slice("request:".length) };
  if (choice.startsWith("example:")) {
    const example = preset?.examples[Number(choice.slice("example:".length))];
    return preset && example && { example: { preset: preset.name, name: example.name } };
  }
  const headers = headersOf(own.headers);
  return {
    payload: own.text,
    content_type: contentTypeOf(own.type),
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
  };
}

/** Returns the most useful choice: the last request, else an example, else an own payload. */
export function firstChoice(
  requests: readonly ReceivedRequest[],
  examples: readonly ExampleRequest[],
): TrialChoice {
  const [request] = requests;
  if (request !== undefined) return `request:${request.id}`;
  return examples.length > 0 ? "example:0" : "own";
}

/** Reads lines such as `x-event: push`. Lines of another form are left out. */
function headersOf(text: string): Record<string, string> {
  return Object.fromEntries(
    text.split("\n").flatMap((line) => {
      const [, name, value] = /^\s*([\w!#$%&'*+.^`|~-]+)\s*:\s*(.*?)\s*$/.exec(line) ?? [];
      return name === undefined || value === undefined ? [] : [[name.toLowerCase(), value]];
    }),
  );
}
