import type { PreviewTriggerBody } from "@beckon/client";
import type { ExampleRequest, Preset, ReceivedRequest } from "@beckon/contract";
import { contentTypeOf, type PayloadType } from "../input/payload.ts";

type TrialRequest = PreviewTriggerBody["request"];

/** The chosen request of a preview: `request:<id>`, `example:<preset>/<name>` or `own`. */
export type TrialChoice = string;

/**
 * Returns the choice of an example. It contains the preset, because examples of different presets
 * can have the same name.
 */
export function exampleChoice(preset: Preset, { name }: ExampleRequest): TrialChoice {
  return `example:${preset.name}/${name}`;
}

const exampleOf = (choice: TrialChoice, preset: Preset | undefined) =>
  preset?.examples.find((example) => exampleChoice(preset, example) === choice);

/** A payload that a person has typed. */
export interface OwnPayload {
  readonly type: PayloadType;
  readonly text: string;
  /** Headers, one `name: value` per line. */
  readonly headers: string;
}

/** Returns the request of a preview for the API; undefined for an example that does not exist. */
export function trialOf(
  choice: TrialChoice,
  preset: Preset | undefined,
  own: OwnPayload,
): TrialRequest | undefined {
  if (choice.startsWith("request:")) return { request_id: choice.slice("request:".length) };
  if (choice.startsWith("example:")) {
    const example = exampleOf(choice, preset);
    return preset && example && { example: { preset: preset.name, name: example.name } };
  }
  const headers = headersOf(own.headers);
  return {
    payload: own.text,
    content_type: contentTypeOf(own.type),
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
  };
}

/**
 * Returns what a person has chosen. If nothing is chosen, or an example of another preset, returns
 * the most useful choice: the last request, else an example, else an own payload.
 */
export function currentChoice(
  chosen: TrialChoice | undefined,
  requests: readonly Pick<ReceivedRequest, "id">[],
  preset: Preset | undefined,
): TrialChoice {
  const isGone = chosen?.startsWith("example:") && exampleOf(chosen, preset) === undefined;
  if (chosen !== undefined && !isGone) return chosen;
  const [request] = requests;
  if (request !== undefined) return `request:${request.id}`;
  const [example] = preset?.examples ?? [];
  return preset === undefined || example === undefined ? "own" : exampleChoice(preset, example);
}

/** Returns the `recent` requests, followed by the `chosen` ones that `recent` does not contain. */
export function withChosen<Item extends Pick<ReceivedRequest, "id">>(
  recent: readonly Item[],
  ...chosen: readonly (Item | undefined)[]
): readonly Item[] {
  const byId = new Map(recent.map((request) => [request.id, request]));
  for (const request of chosen)
    if (request !== undefined && !byId.has(request.id)) byId.set(request.id, request);
  return [...byId.values()];
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
